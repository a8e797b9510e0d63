// SPDX-License-Identifier: MIT
// Words, numbers and texts of bpftrace's language. What a character means depends on where it stands (a '/' in a path, before a
// predicate, in a quotient), so the parser asks for what it wants at a place.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "script/types/diagnostics.h"

namespace blip::bt {

using script::Range;

class Scanner {
 public:
  explicit Scanner(std::string_view source) : source_(source) {}

  // Blanks and comments.
  void skip_layout() { at_ = behind_layout(at_); }
  size_t behind_layout(size_t at) const;

  bool at_end() const { return at_ >= source_.size(); }
  char peek(size_t ahead = 0) const { return char_at(at_ + ahead); }
  char char_at(size_t at) const { return at < source_.size() ? source_[at] : '\0'; }
  size_t at() const { return at_; }
  void go_to(size_t at) { at_ = at; }
  void advance(size_t by = 1) { at_ = std::min(source_.size(), at_ + by); }

  // Behind layout. They take nothing if it is not there.
  bool accept(std::string_view sign);
  std::optional<std::string> accept_name();
  bool accept_word(std::string_view word);
  std::string_view peek_word();  // empty: no name begins here

  // A name may follow without layout: $name, @name.
  std::string name_here();
  std::string digits_here();

  // The scanner stands at its first character. Errors are those of the first thing that is wrong.
  Result<std::string> text();
  // With suffixes: 1ms is 1000000. Digits may be separated by _.
  Result<uint64_t> number();

  Error error(std::string_view message) const;  // at the place where the scanner stands
  Error error(size_t begin, std::string_view message) const { return error_at({range(begin)}, message); }
  Error error_at(Range where, std::string_view message) const {
    return script::error_at(source_, where, message);
  }
  Range range(size_t begin) const { return {static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)}; }
  std::string_view source() const { return source_; }

 private:
  Result<char> escape();
  std::string digits(bool is_hex);
  Result<uint64_t> value_of(const std::string& digits, std::string_view suffix, size_t begin) const;

  std::string_view source_;
  size_t at_ = 0;
};

bool begins_name(char c);
bool goes_on_in_name(char c);

}  // namespace blip::bt
