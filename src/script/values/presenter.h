// SPDX-License-Identifier: MIT
// From typed operands to what an event holds of them: outputs, and the fields of their bytes.
#pragma once

#include <algorithm>
#include <span>

#include "script/values/collections.h"
#include "script/values/containers.h"
#include "script/values/field_layout.h"
#include "script/values/variants.h"

namespace blip::script {

// A value to show, and its name.
struct Named {
  std::string name;
  Operand operand;
  ctf::FieldGroup group = ctf::FieldGroup::kCapture;
};

class Presenter {
 public:
  // Adds to `outputs`.
  Presenter(Access& access, FindType find_type, const Limits& limits, std::vector<Output>& outputs)
      : access_(access),
        find_type_(std::move(find_type)),
        limits_(limits),
        room_(limits.bytes),
        outputs_(outputs) {}

  // A value that cannot be shown, or for which there is no room any more, becomes a note.
  std::vector<Field> present(std::span<const Named> fields);

 private:
  // Values are shown one after the other; this keeps some room for later ones.
  void keep_room(uint32_t bytes) { kept_ = std::min(bytes, room_ / 2); }
  Field show(const std::string& name, const Operand& operand, uint32_t depth);
  Field scalar(const std::string& name, const Operand& operand);
  Field halves(const std::string& name, const Operand& operand);
  Field text(const std::string& name, uint32_t address, uint64_t most);
  Field array(const std::string& name, const Operand& operand, uint32_t depth);
  Field of_own_length(const std::string& name, const Operand& operand);
  Field scattered(const std::string& name, const Operand& operand, uint64_t count, uint32_t depth);
  Field aggregate(const std::string& name, const Operand& operand, uint32_t depth);
  Field in_memory(const std::string& name, const Operand& operand, uint32_t depth);
  Field in_pieces(const std::string& name, const Operand& operand, uint32_t depth);
  Field in_register(const std::string& name, const Operand& operand, uint32_t depth);
  std::optional<Field> wrapped(const std::string& name, const Operand& operand, uint32_t depth);
  Field optional(const std::string& name, const Optional& found, uint32_t depth);
  Operand or_zero(Operand value, uint32_t is_there);
  Field variants(const std::string& name, const Variants& found, uint32_t depth);
  Field if_there(const std::string& name, const Operand& value, uint32_t is_there, uint32_t depth);
  Field view(const std::string& name, const View& view);
  Field tuple(const std::string& name, const std::vector<Operand>& elements, uint32_t depth);
  // The field of what is found by following steps from an address.
  Field collected(const std::string& name, Collection found, uint32_t address, uint32_t length);
  std::optional<Field> elements_with_parts(const std::string& name, const View& view);
  void improve_members(Field& field, const Operand& operand, uint32_t depth);
  std::optional<Field> better(const std::string& name, const Operand& member, uint32_t depth);
  View if_there(View view, uint32_t is_there);
  Field bytes(const std::string& name, const Operand& operand, uint64_t size, uint32_t depth);

  // kNone: no room.
  uint32_t add(const Output& output);
  uint32_t room() const { return outputs_.size() < kMaxOutputs ? room_ - kept_ : 0; }

  Access& access_;
  FindType find_type_;
  const Limits& limits_;
  uint32_t room_, kept_ = 0;
  uint32_t sharers_ = 1;  // how many values that may be large are still to come, with the one at hand
  std::vector<Output>& outputs_;
};

}  // namespace blip::script
