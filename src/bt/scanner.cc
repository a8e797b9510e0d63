// SPDX-License-Identifier: MIT
#include "bt/scanner.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace blip::bt {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

struct Suffix {
  std::string_view text;
  uint64_t factor;
};
constexpr uint64_t kSecond = 1'000'000'000;
// The longer ones first.
constexpr std::array<Suffix, 23> kSuffixes{{{"ull", 1},
                                            {"ULL", 1},
                                            {"llu", 1},
                                            {"LLU", 1},
                                            {"ns", 1},
                                            {"us", 1000},
                                            {"ms", 1'000'000},
                                            {"ul", 1},
                                            {"UL", 1},
                                            {"Ul", 1},
                                            {"uL", 1},
                                            {"ll", 1},
                                            {"LL", 1},
                                            {"lu", 1},
                                            {"LU", 1},
                                            {"u", 1},
                                            {"U", 1},
                                            {"l", 1},
                                            {"L", 1},
                                            {"s", kSecond},
                                            {"m", 60 * kSecond},
                                            {"h", 3600 * kSecond},
                                            {"d", 86400 * kSecond}}};

}  // namespace

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool goes_on_in_name(char c) { return begins_name(c) || is_digit(c); }

size_t Scanner::behind_layout(size_t at) const {
  for (;;) {
    if (is_blank(char_at(at))) {
      ++at;
    } else if (char_at(at) == '/' && char_at(at + 1) == '/') {
      at = std::min(source_.find('\n', at), source_.size());
    } else if (char_at(at) == '/' && char_at(at + 1) == '*') {
      const size_t end = source_.find("*/", at + 2);
      at = end == std::string_view::npos ? source_.size() : end + 2;
    } else {
      return at;
    }
  }
}

bool Scanner::accept(std::string_view sign) {
  skip_layout();
  if (source_.substr(at_, sign.size()) != sign) return false;
  advance(sign.size());
  return true;
}

std::string_view Scanner::peek_word() {
  skip_layout();
  size_t end = at_;
  if (begins_name(char_at(end)))
    while (goes_on_in_name(char_at(end))) ++end;
  return source_.substr(std::min(at_, source_.size()), end - at_);
}

std::optional<std::string> Scanner::accept_name() {
  const std::string_view word = peek_word();
  if (word.empty()) return std::nullopt;
  advance(word.size());
  return std::string(word);
}

bool Scanner::accept_word(std::string_view word) {
  if (peek_word() != word) return false;
  advance(word.size());
  return true;
}

std::string Scanner::name_here() {
  const size_t begin = at_;
  while (goes_on_in_name(peek())) advance();
  return std::string(source_.substr(begin, at_ - begin));
}

std::string Scanner::digits_here() {
  const size_t begin = at_;
  while (is_digit(peek())) advance();
  return std::string(source_.substr(begin, at_ - begin));
}

Error Scanner::error(std::string_view message) const {
  const auto at = static_cast<uint32_t>(at_);
  return error_at({at, at + 1}, message);
}

Result<char> Scanner::escape() {
  const size_t begin = at_ - 1;
  const char c = peek();
  advance();
  constexpr std::string_view kLetters = "ntr\"\\", kMeaning = "\n\t\r\"\\";
  if (const size_t known = kLetters.find(c); c != '\0' && known != std::string_view::npos)
    return kMeaning[known];
  const bool is_hex = c == 'x' || c == 'X', is_octal = c >= '0' && c <= '7';
  if (!is_hex && !is_octal)
    return error(begin, "there is no such escape: use \\n \\t \\r \\\" \\\\ \\101 \\x41");
  const size_t first = is_octal ? at_ - 1 : at_, most = is_octal ? 3 : 2;
  size_t end = first;
  while (end - first < most &&
         (is_octal ? char_at(end) >= '0' && char_at(end) <= '7' : is_hex_digit(char_at(end))))
    ++end;
  at_ = end;
  unsigned value = 0;
  std::from_chars(source_.data() + first, source_.data() + end, value, is_octal ? 8 : 16);
  if (end == first) return error(begin, "digits are missing: \\x41");
  if (value > UINT8_MAX) return error(begin, "it is more than one byte: \\377 is the last one");
  return static_cast<char>(value);
}

Result<std::string> Scanner::text() {
  const size_t begin = at_;
  advance();
  std::string result;
  for (;;) {
    const char c = peek();
    if (at_end() || c == '\n') return error(begin, "the text has no end: a '\"' is missing");
    advance();
    if (c == '"') return result;
    if (c != '\\') {
      result += c;
      continue;
    }
    TRY(const char escaped, escape());
    result += escaped;
  }
}

std::string Scanner::digits(bool is_hex) {
  std::string result;
  while (is_hex ? is_hex_digit(peek()) || peek() == '_' : is_digit(peek()) || peek() == '_') {
    result += peek();
    advance();
  }
  return result;
}

Result<uint64_t> Scanner::value_of(const std::string& written, std::string_view suffix, size_t begin) const {
  if (!written.empty() && written.back() == '_') return error(begin, "a number does not end with _");
  std::string digits;
  std::copy_if(written.begin(), written.end(), std::back_inserter(digits), [](char c) { return c != '_'; });
  int base = 10;
  std::string_view rest = digits;
  if (rest.starts_with("0x") || rest.starts_with("0X")) {
    base = 16;
    rest.remove_prefix(2);
  } else if (rest.size() > 1 && rest[0] == '0') {
    base = 8;
    rest.remove_prefix(1);
  }
  uint64_t value = 0;
  const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
  if (failed == std::errc::result_out_of_range) return error(begin, "the number has more than 64 bits");
  if (rest.empty() || end != rest.data() + rest.size()) return error(begin, "this is no number");
  const auto* known =
      std::find_if(kSuffixes.begin(), kSuffixes.end(), [&](const Suffix& s) { return s.text == suffix; });
  const uint64_t factor = known == kSuffixes.end() ? 1 : known->factor;
  if (value > UINT64_MAX / factor) return error(begin, "the number has more than 64 bits");
  return value * factor;
}

Result<uint64_t> Scanner::number() {
  const size_t begin = at_;
  std::string written;
  if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
    advance(2);
    written = "0x" + digits(true);
  } else {
    written = digits(false);
    if (peek() == 'e' || peek() == 'E') {
      advance();
      const std::string zeros = digits(false);
      if (zeros.empty() || zeros.size() > 3 || zeros.back() == '_' || written.size() != 1)
        return error(begin, "it is one digit, e and a number of zeros: 2e6");
      unsigned count = 0;
      std::from_chars(zeros.data(), zeros.data() + zeros.size(), count);
      if (count > 19) return error(begin, "the number has more than 64 bits");
      written.append(count, '0');
    }
  }
  std::string_view suffix;
  for (const Suffix& s : kSuffixes)
    if (suffix.empty() && source_.substr(std::min(at_, source_.size())).starts_with(s.text)) suffix = s.text;
  advance(suffix.size());
  if (begins_name(peek())) {
    const size_t wrong = at_;
    const std::string bad = name_here();
    return error(
        wrong,
        fmt::format("there is no unit '{}': u, l, ul, ll, ull, ns, us, ms, s, m, h, d are known", bad));
  }
  return value_of(written, suffix, begin);
}

}  // namespace blip::bt
