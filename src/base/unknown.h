// SPDX-License-Identifier: MIT
// Why a value is not known at a place. Events and traces show it in the value's place, as "<optimized out>".
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace blip {

enum class Unknown : uint8_t {
  kOptimizedOut,  // debugging information says so, or tells nothing
  kFrameGone,     // its frame is below the stack pointer
  kNotSet,        // what the function's first instructions have yet to store
  kNotTold,       // an argument at the entry: neither debugging information nor the convention tells
  kThreadLocal,   // of a library
  kInX87,         // pads leave x87's registers alone
  kMaybeDropped,  // a result that the compiler may have left out
  kUpperHalf,     // of a vector register
  kOperand,       // of a mark: what the assembler wrote is not understood
  kSymbol,        // of a mark: a name that the file's symbols do not have
};

inline constexpr std::array<std::string_view, 10> kUnknownTexts = {
    "optimized out",
    "its frame is gone",
    "not set yet",
    "not told at the entry",
    "thread-local in a library",
    "in st(0)",
    "perhaps not returned",
    "in the upper half of a register",
    "unknown operand",
    "unknown symbol",
};

constexpr std::string_view text_of(Unknown why) { return kUnknownTexts[static_cast<size_t>(why)]; }

// True if a text stands for a value that is not known: "<" one of the texts ">".
constexpr bool is_unknown_text(std::string_view text) {
  return text.starts_with('<') && text.ends_with('>') &&
         std::find(kUnknownTexts.begin(), kUnknownTexts.end(), text.substr(1, text.size() - 2)) !=
             kUnknownTexts.end();
}

}  // namespace blip
