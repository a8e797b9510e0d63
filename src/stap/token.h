// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "stap/source.h"

namespace blip::stap {

enum class TokenKind : uint8_t {
  kEnd,
  kName,      // also $var and $$vars
  kKeyword,   // probe, if, ...
  kNumber,    // as it is written
  kText,      // without its quotes and escapes
  kSign,      // + <<< @count ...
  kEmbedded,  // %{ ... %}
  kJunk,      // what is wrong with it
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  Spot spot;
  bool is_after_space = false;

  bool is_sign(std::string_view sign) const { return kind == TokenKind::kSign && text == sign; }
  bool is_keyword(std::string_view word) const { return kind == TokenKind::kKeyword && text == word; }
  bool is_at_word() const { return kind == TokenKind::kSign && text.size() > 1 && text[0] == '@'; }
};

}  // namespace blip::stap
