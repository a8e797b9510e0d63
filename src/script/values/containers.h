// SPDX-License-Identifier: MIT
// Types of standard libraries that are more than their members: texts, sequences, owners of one value.
// A table by name; that the members are those we know is checked, anything else stays a structure.
#pragma once

#include <functional>
#include <optional>

#include "script/values/access.h"

namespace blip::script {

// Elements that lie one after the other.
struct View {
  uint32_t data = kNone, length = kNone;  // nodes: the first one's address, how many
  const Type* element = nullptr;
  bool is_text = false;
  uint64_t most = UINT64_MAX;  // elements there can be
};

// A value that may not be there.
struct Optional {
  Operand has_value, value;
};

using FindType = std::function<const Type*(std::string_view)>;

// `levels`: how many references to references are followed.
std::optional<View> find_view(Access& access, const Operand& operand, const FindType& find_type,
                              int levels = 4);
std::optional<Optional> find_optional(Access& access, const Operand& operand);
// The array in a std::array.
std::optional<Operand> find_std_array(Access& access, const Operand& operand);
// The elements of a std::tuple.
std::optional<std::vector<Operand>> find_tuple(Access& access, const Operand& operand);
// A node: how many elements a container has.
std::optional<uint32_t> find_size(Access& access, const Operand& operand, const FindType& find_type);
// The pointer in a std::unique_ptr or std::shared_ptr.
std::optional<Operand> find_owned(Access& access, const Operand& operand);

}  // namespace blip::script
