// SPDX-License-Identifier: MIT
// Words, numbers and signs of expressions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "script/types/diagnostics.h"

namespace blip::script {

enum class TokenKind : uint8_t {
  kEnd,
  kName,      // also with colons: ns::name
  kModule,    // what comes before the colons of libc.so.6::name and file.c::name; they are part of it
  kRegister,  // $rax, without the $
  kNumber,
  kReal,       // 1.5
  kCharacter,  // its number
  kText,
  kSign,  // -> == && ...
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Range range;
  std::string text;     // the name, the text without its quotes, the sign
  uint64_t number = 0;  // of a kReal: its bits as a double
  bool is_unsigned = false, is_long = false, is_decimal = false;

  bool is(std::string_view sign) const { return kind == TokenKind::kSign && text == sign; }
  bool is_word(std::string_view word) const { return kind == TokenKind::kName && text == word; }
};

inline constexpr size_t kMaxSource = 4096;  // bytes

// The last one is a kEnd.
Result<std::vector<Token>> tokenize(std::string_view source);

}  // namespace blip::script
