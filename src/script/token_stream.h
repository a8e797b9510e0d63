// SPDX-License-Identifier: MIT
// Tokens one after the other, for parsers.
#pragma once

#include <fmt/core.h>

#include "script/lexer.h"

namespace blip::script {

class TokenStream {
 public:
  static Result<TokenStream> open(std::string_view source) {
    TRY(auto tokens, tokenize(source));
    return TokenStream(source, std::move(tokens));
  }

  // The end comes again and again.
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool accept(std::string_view sign) {
    if (!peek().is(sign)) return false;
    take();
    return true;
  }
  Status expect(std::string_view sign) {
    if (!accept(sign)) return error(fmt::format("a '{}' is missing here", sign));
    return {};
  }
  uint32_t last_end() const { return at_ == 0 ? 0 : tokens_[at_ - 1].range.end; }

  Error error(std::string_view message) const { return error_at(source_, peek().range, message); }
  std::string_view source() const { return source_; }

 private:
  TokenStream(std::string_view source, std::vector<Token> tokens)
      : source_(source), tokens_(std::move(tokens)) {}

  std::string_view source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace blip::script
