// SPDX-License-Identifier: MIT
// Expressions as they are written, before anything is known about names and types.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "script/types/diagnostics.h"

namespace blip::script {

// "struct request **": a name and how many pointers lead to it.
struct TypeName {
  std::string base;  // in one form: "unsigned int", "struct request", "ns::request"
  bool is_builtin = false;
  unsigned pointers = 0;
  Range range;
};

struct Expression {
  enum class Kind : uint8_t {
    kNumber,       // number, is_unsigned, is_long, is_decimal
    kReal,         // number: the bits of a double
    kCharacter,    // number
    kText,         // text
    kName,         // text; `where` is what comes before file.c:: or libc.so::
    kRegister,     // text: $rax, $return
    kMember,       // operands[0].text
    kArrow,        // operands[0]->text
    kIndex,        // operands[0][operands[1]]
    kSlice,        // operands[0][operands[1]..operands[2]]
    kUnary,        // text is the sign
    kBinary,       // text is the sign
    kConditional,  // operands[0] ? operands[1] : operands[2]
    kCast,         // (type)operands[0]
    kSizeOfType,   // sizeof(type)
    kMethod,       // operands[0].text(), or operands[0]->text(): size, empty, ...; number: 1 for ->
    kCall,         // text(operands...): entry, sizeof, startswith, reg
    kGiven,        // what the caller of the checker has found already, by number; the parser makes none
  } kind = Kind::kNumber;
  Range range;
  Range mark;  // of the sign or the member's name: what an error about this level underlines
  std::string text, where;
  uint64_t number = 0;
  bool is_unsigned = false, is_long = false, is_decimal = false;
  TypeName type;
  std::vector<std::unique_ptr<Expression>> operands;
  unsigned depth = 1;  // of the tree
};

using ExpressionPtr = std::unique_ptr<Expression>;

// One of a list: `expression`, or `name = expression`.
struct Item {
  std::string name;  // if none was given, the expression as written
  ExpressionPtr expression;
};

}  // namespace blip::script
