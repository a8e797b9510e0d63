// SPDX-License-Identifier: MIT
// The arguments of a static mark, by the text that the assembler left of them:
// "-4@%edi 8@8(%rbp) 4@$7 8f@x+16(%rip)". Each is its size in bytes (negative: signed; with an f: a floating
// point number), an @, and an operand as AT&T writes it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "script/types/scope.h"

namespace blip::script {

// What names in operands mean in the running process. Empty functions know nothing.
struct MarkSymbols {
  std::function<std::optional<uint64_t>(std::string_view)> address;        // of a variable or function
  std::function<std::optional<uint64_t>(std::string_view)> thread_offset;  // of a thread-local one, from fs
};

// One variable for each argument, called arg1, arg2, ...: always as many as the program gave. An operand that
// is not understood, or names an unknown symbol, is a place that is not known, and why.
std::vector<Variable> mark_arguments(std::string_view operands, const MarkSymbols& symbols);

// The operands' own texts, as many: "-4@%edi".
std::vector<std::string> mark_operand_texts(std::string_view operands);

}  // namespace blip::script
