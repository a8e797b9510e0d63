// SPDX-License-Identifier: MIT
// One line of the text form, word by word. The first error stays: what is read after it is empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "state/types.h"

namespace blip::script {

class Line {
 public:
  explicit Line(std::string_view text);

  bool is_at_end() const { return !error_.empty() || at_ == tokens_.size(); }
  bool is_next(std::string_view word) const {
    return !is_at_end() && !tokens_[at_].is_text && tokens_[at_].word == word;
  }
  bool is_number_next() const;
  bool skip(std::string_view word);
  void expect(std::string_view word);

  std::string word();
  std::string quoted();
  uint64_t number();
  uint32_t small_number(uint32_t most = UINT32_MAX);

  // The place of the next word among `words`.
  template <typename Enum, typename Words>
  Enum one_of(const Words& words, std::string_view what) {
    const std::string found = word();
    for (size_t i = 0; i < words.size(); ++i)
      if (words[i] == found) return static_cast<Enum>(i);
    fail("no such " + std::string(what) + ": " + found);
    return {};
  }

  // "(i64, str)"
  std::vector<state::ValueType> types();

  void fail(std::string message);
  const std::string& error() const { return error_; }

 private:
  struct Token {
    std::string word;
    bool is_text = false;
  };
  void read_text(std::string_view text, size_t& at);

  std::vector<Token> tokens_;
  size_t at_ = 0;
  std::string error_;
};

}  // namespace blip::script
