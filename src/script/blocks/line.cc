// SPDX-License-Identifier: MIT
#include "script/blocks/line.h"

#include <charconv>

#include "script/blocks/words.h"

namespace blip::script {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.';
}

// -1: none.
int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::optional<uint64_t> parse(std::string_view word) {
  const bool is_negative = word.starts_with('-');
  if (is_negative) word.remove_prefix(1);
  const bool is_hex = word.starts_with("0x");
  if (is_hex) word.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, is_hex ? 16 : 10);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return is_negative ? 0 - value : value;
}

}  // namespace

Line::Line(std::string_view text) {
  for (size_t at = 0; at < text.size() && error_.empty();) {
    const char c = text[at];
    if (c == '#') break;
    if (is_space(c)) {
      ++at;
    } else if (c == '"') {
      read_text(text, ++at);
    } else if (is_of_word(c)) {
      const size_t begin = at;
      while (at < text.size() && is_of_word(text[at])) ++at;
      tokens_.push_back({std::string(text.substr(begin, at - begin))});
    } else {
      tokens_.push_back({std::string(1, c)});
      ++at;
    }
  }
}

void Line::read_text(std::string_view text, size_t& at) {
  std::string result;
  for (; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] != '\\') {
      result += text[at];
      continue;
    }
    ++at;
    if (at < text.size() && (text[at] == '"' || text[at] == '\\')) {
      result += text[at];
      continue;
    }
    const int high = at + 2 < text.size() && text[at] == 'x' ? hex_digit(text[at + 1]) : -1;
    const int low = high < 0 ? -1 : hex_digit(text[at + 2]);
    if (low < 0) return fail("only \\\\, \\\" and \\xNN may follow a backslash");
    result += static_cast<char>(high * 16 + low);
    at += 2;
  }
  if (at == text.size()) return fail("a text does not end");
  ++at;
  tokens_.push_back({std::move(result), true});
}

bool Line::is_number_next() const {
  return !is_at_end() && !tokens_[at_].is_text && parse(tokens_[at_].word);
}

bool Line::skip(std::string_view wanted) {
  if (!is_next(wanted)) return false;
  ++at_;
  return true;
}

void Line::expect(std::string_view wanted) {
  if (skip(wanted)) return;
  fail("\"" + std::string(wanted) + "\" is missing" +
       (is_at_end() ? " at the end" : " before " + tokens_[at_].word));
}

std::string Line::word() {
  if (is_at_end() || tokens_[at_].is_text) {
    fail("a word is missing");
    return "";
  }
  return tokens_[at_++].word;
}

std::string Line::quoted() {
  if (is_at_end() || !tokens_[at_].is_text) {
    fail("a text is missing");
    return "";
  }
  return tokens_[at_++].word;
}

uint64_t Line::number() {
  const std::string found = word();
  const auto value = parse(found);
  if (!value) fail("no number: " + found);
  return value.value_or(0);
}

uint32_t Line::small_number(uint32_t most) {
  const uint64_t value = number();
  if (value <= most) return static_cast<uint32_t>(value);
  fail("the number is too large: " + std::to_string(value));
  return 0;
}

std::vector<state::ValueType> Line::types() {
  std::vector<state::ValueType> result;
  expect("(");
  while (!is_at_end() && !is_next(")")) {
    result.push_back(one_of<state::ValueType>(words::kTypes, "type"));
    if (!is_next(")")) expect(",");
  }
  expect(")");
  return result;
}

void Line::fail(std::string message) {
  if (error_.empty()) error_ = std::move(message);
}

}  // namespace blip::script
