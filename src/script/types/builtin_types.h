// SPDX-License-Identifier: MIT
// Types that need no debugging information, and those made of others.
#pragma once

#include <deque>
#include <string_view>

#include "script/types/type.h"

namespace blip::script {

// "int", "unsigned long", "char", "bool", "double", "void", in the form of TypeName::base; also names that
// mean the same everywhere: "size_t", "uint32_t". Null: there is none.
const Type* builtin_type(std::string_view name);
// Integer types of 1, 2, 4 or 8 bytes.
const Type& int_type(uint64_t size, bool is_signed);

// Types that an expression makes; they live as long as it.
class TypeArena {
 public:
  const Type& pointer_to(const Type& target) {
    return types_.emplace_back(Type{.kind = TypeKind::kPointer, .size = sizeof(uint64_t), .target = &target});
  }
  // As std::pair has them.
  const Type& pair_of(const Type& first, const Type& second);

 private:
  std::deque<Type> types_;
};

// A character, and not a number of one byte that C happens to call one: uint8_t.
bool is_character(const Type& type);

}  // namespace blip::script
