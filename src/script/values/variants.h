// SPDX-License-Identifier: MIT
// std::variant, and enums of Rust: structures of which one member at a time is there. Their type has a tag, a
// member without a name that is a number; its enumerators tell by the value of the tag which of the other
// members it is. The one that has no enumerator is there in all other cases.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "script/values/access.h"

namespace blip::script {

struct Variants {
  struct One {
    std::string name;
    std::optional<Operand> value;  // none: it has no data
    uint32_t is_there = kNone;     // a node
  };
  std::vector<One> all;
  // A node that tells which one it is, by values that have names.
  uint32_t which = kNone;
  uint32_t size = 0;  // of that number
  std::vector<Enumerator> names;
};

// The number that tells which member is there, and the member's data: a single value in brackets is that
// value, as in Some(5). Null: the type is no such enum, the member has no data.
const Member* tag_of(const Type& type);
const Member* data_of(const Member& variant, uint64_t& offset);

std::optional<Variants> find_variants(Access& access, const Operand& operand);

}  // namespace blip::script
