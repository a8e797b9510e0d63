// SPDX-License-Identifier: MIT
// The kinds of entries that a unit has, as far as an index of names needs them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dwarf/index/unit_headers.h"

namespace blip::dwarf {

// The role that an entry plays for the index.
enum class Role : uint8_t {
  kOther,      // nothing, and nothing in it is
  kContainer,  // a namespace
  kRecord,     // a type that others may be in
  kType,
  kVariable,  // with a place or a value
  kFunction,  // that may be an abstract one: inlined somewhere
  kInlined,   // a copy whose function may be in another unit
};

// One thing to do with the bytes of an entry.
struct Step {
  enum class What : uint8_t {
    kSkip,
    kSkipForm,
    kName,
    kLinkageName,
    kOrigin,  // the abstract entry of an instance, the declaration of a definition
    kDeclaration,
    kSibling,
    kStringOffsets
  };
  What what;
  uint16_t form;
  uint32_t size;  // to skip
};

struct Abbreviation {
  uint16_t tag = 0;  // 0: there is none of this number
  Role role = Role::kOther;
  bool has_children = false;
  bool is_inline = false;  // DW_AT_inline: abstract, whatever else it has
  uint32_t steps = 0, step_count = 0;
  uint32_t all_steps = 0, all_step_count = 0;
};

class Abbreviations {
 public:
  // None: malformed, or with forms that are not known.
  static std::optional<Abbreviations> read(std::span<const uint8_t> section, const UnitHeader& unit);

  // Null: not there.
  const Abbreviation* find(uint64_t code) const {
    return code < by_code_.size() && by_code_[code].tag ? &by_code_[code] : nullptr;
  }
  // The attributes that count for its role.
  std::span<const Step> steps(const Abbreviation& a) const { return {steps_.data() + a.steps, a.step_count}; }
  // The names and references of any entry.
  std::span<const Step> all_steps(const Abbreviation& a) const {
    return {all_steps_.data() + a.all_steps, a.all_step_count};
  }
  // Copies of functions of other units may be among the entries.
  bool has_foreign_origins() const { return has_foreign_origins_; }

 private:
  struct Attribute {
    uint16_t name, form;
  };
  void add(const UnitHeader& unit, Abbreviation a, std::span<const Attribute> attributes, uint64_t code);

  std::vector<Abbreviation> by_code_;
  std::vector<Step> steps_, all_steps_;
  bool has_foreign_origins_ = false;
};

}  // namespace blip::dwarf
