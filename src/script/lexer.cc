// SPDX-License-Identifier: MIT
#include "script/lexer.h"

#include <fmt/core.h>

#include <bit>
#include <charconv>
#include <cmath>

namespace blip::script {

namespace {

// Longer ones first.
constexpr std::string_view kSigns[] = {
    "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "->", "..", "::", "+", "-", "*", "/", "%",
    "<",  ">",  "&",  "|",  "^",  "~",  "!",  "(",  ")",  "[",  "]",  ".", ",", "?", ":", "="};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }
// Files and libraries may have these in their names.
bool is_in_module(char c) { return is_word(c) || c == '.' || c == '-' || c == '+'; }

// Times are in nanoseconds, as latency_ns is; sizes in bytes.
struct Unit {
  std::string_view name;
  uint64_t factor;
};
constexpr Unit kUnits[] = {{"ns", 1},         {"us", 1000},      {"ms", 1'000'000}, {"s", 1'000'000'000},
                           {"k", 1ULL << 10}, {"K", 1ULL << 10}, {"M", 1ULL << 20}, {"G", 1ULL << 30}};

// 0: there is no such unit.
uint64_t unit_of(std::string_view name) {
  for (const Unit& unit : kUnits)
    if (unit.name == name) return unit.factor;
  return 0;
}

constexpr double kTwoTo63 = 0x1p63;

// "1e3", "1e" of 1e-3.
bool is_power_of_ten(std::string_view word) {
  const size_t e = word.find_first_of("eE");
  return e != std::string_view::npos && word.find_first_not_of("0123456789") == e;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  Result<std::vector<Token>> all() {
    if (source_.size() > kMaxSource)
      return error_at(
          source_, {.begin = kMaxSource, .end = static_cast<uint32_t>(source_.size())},
          fmt::format("the expression is too long: {} bytes, at most {}", source_.size(), kMaxSource));
    for (;;) {
      while (at_ < source_.size() && is_space(source_[at_])) ++at_;
      token_ = {.range = {.begin = static_cast<uint32_t>(at_)}};
      if (at_ < source_.size()) TRY_OK(next());
      token_.range.end = static_cast<uint32_t>(at_);
      tokens_.push_back(token_);
      if (token_.kind == TokenKind::kEnd) return std::move(tokens_);
    }
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  char peek(size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  Error error(std::string_view message) const {
    return error_at(source_, {token_.range.begin, static_cast<uint32_t>(at_)}, message);
  }

  Status next() {
    const char c = peek();
    if (take_module()) return {};
    if (is_letter(c)) return take_name();
    if (is_digit(c)) return take_number();
    if (c == '$') return take_register();
    if (c == '"') return take_text();
    if (c == '\'') return take_character();
    return take_sign();
  }

  size_t run(size_t from, bool (*is_part)(char)) const {
    while (from < source_.size() && is_part(source_[from])) ++from;
    return from;
  }

  bool take_module() {
    if (!is_word(peek())) return false;
    const size_t end = run(at_, is_in_module);
    const std::string_view word = source_.substr(at_, end - at_);
    if (source_.substr(end, 2) != "::" || word.find('.') == std::string_view::npos ||
        word.find("..") != std::string_view::npos)
      return false;
    token_.kind = TokenKind::kModule;
    token_.text = word;
    at_ = end + 2;
    return true;
  }

  Status take_name() {
    const size_t begin = at_;
    at_ = run(at_, is_word);
    while (source_.substr(at_, 2) == "::" && is_letter(peek(2))) at_ = run(at_ + 2, is_word);
    token_.kind = TokenKind::kName;
    token_.text = source_.substr(begin, at_ - begin);
    return {};
  }

  Status take_register() {
    const size_t end = run(at_ + 1, is_word);
    token_.kind = TokenKind::kRegister;
    token_.text = source_.substr(at_ + 1, end - at_ - 1);
    at_ = end;
    if (token_.text.empty()) return error("a register's name should follow the $: $rax");
    return {};
  }

  Status take_number() {
    const size_t begin = at_;
    at_ = run(at_, is_word);
    if (peek() == '.' && is_digit(peek(1))) {
      at_ = run(at_ + 1, is_word);
      return take_real(begin);
    }
    if (is_power_of_ten(source_.substr(begin, at_ - begin))) return take_real(begin);
    std::string_view digits = source_.substr(begin, at_ - begin);
    const std::string word(digits);
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
      base = 16;
      digits.remove_prefix(2);
    } else if (digits.starts_with("0b") || digits.starts_with("0B")) {
      base = 2;
      digits.remove_prefix(2);
    } else if (digits.size() > 1 && digits[0] == '0' && is_digit(digits[1])) {
      base = 8;
    }
    const auto [end, failed] =
        std::from_chars(digits.data(), digits.data() + digits.size(), token_.number, base);
    if (failed == std::errc::result_out_of_range)
      return error("this number is too large: it needs 64 bits or less");
    const std::string_view suffix = digits.substr(static_cast<size_t>(end - digits.data()));
    if (failed == std::errc() && base == 10)
      if (const uint64_t unit = unit_of(suffix)) return take_scaled(token_.number, unit);
    if (failed != std::errc() || !take_suffix(suffix)) return error(fmt::format("'{}' is no number", word));
    token_.kind = TokenKind::kNumber;
    token_.is_decimal = base == 10;
    return {};
  }

  bool take_suffix(std::string_view suffix) {
    size_t longs = 0, unsigneds = 0;
    for (const char c : suffix) {
      if (c == 'u' || c == 'U')
        ++unsigneds;
      else if (c == 'l' || c == 'L')
        ++longs;
      else
        return false;
    }
    token_.is_unsigned = unsigneds > 0;
    token_.is_long = longs > 0;
    return longs <= 2 && unsigneds <= 1;
  }

  // 10ms is 10000000, of a whole number; 64k is 65536. They are long, so that 10s * 10 is not too large.
  Status take_scaled(uint64_t number, uint64_t unit) {
    if (__builtin_mul_overflow(number, unit, &token_.number))
      return error("this number is too large: it needs 64 bits or less");
    token_.kind = TokenKind::kNumber;
    token_.is_decimal = token_.is_long = true;
    return {};
  }

  // A whole number is one also if it is written as 1e3 or 1.5ms.
  Status take_real(size_t begin) {
    if ((source_[at_ - 1] == 'e' || source_[at_ - 1] == 'E') && (peek() == '-' || peek() == '+'))
      at_ = run(at_ + 1, is_word);
    double value = 0;
    const char* last = source_.data() + at_;
    const auto [end, failed] = std::from_chars(source_.data() + begin, last, value);
    const std::string_view suffix(end, static_cast<size_t>(last - end));
    const uint64_t unit = suffix.empty() ? 1 : unit_of(suffix);
    if (failed != std::errc() || unit == 0) return error("this is no number");
    const bool has_point = source_.substr(begin, at_ - begin).find('.') != std::string_view::npos;
    if (!suffix.empty() || !has_point) {
      value *= static_cast<double>(unit);
      if (value >= 0 && value < kTwoTo63 && value == std::floor(value))
        return take_scaled(static_cast<uint64_t>(value), 1);
      if (!suffix.empty()) return error("this is no whole number of nanoseconds or bytes");
    }
    token_.kind = TokenKind::kReal;
    token_.number = std::bit_cast<uint64_t>(value);
    return {};
  }

  Status take_text() {
    ++at_;
    while (peek() != '"' || at_ >= source_.size()) {
      if (at_ >= source_.size()) return error("the text has no end: a \" is missing");
      TRY(const char c, take_quoted());
      token_.text += c;
    }
    ++at_;
    token_.kind = TokenKind::kText;
    return {};
  }

  Status take_character() {
    ++at_;
    if (at_ >= source_.size() || peek() == '\'') return error("a character should stand between the quotes");
    TRY(const char c, take_quoted());
    if (peek() != '\'') return error("one character should stand between the quotes: 'x', or \"text\"");
    ++at_;
    token_.kind = TokenKind::kCharacter;
    token_.number =
        static_cast<uint64_t>(static_cast<signed char>(c));  // NOLINT(bugprone-signed-char-misuse): as in C
    return {};
  }

  // One byte of a text, escapes as in C.
  Result<char> take_quoted() {
    const char c = peek();
    ++at_;
    if (c != '\\') return c;
    const char kind = peek();
    ++at_;
    constexpr std::string_view kLetters = "abefnrtv\\'\"?", kMeant = "\a\b\033\f\n\r\t\v\\'\"?";
    if (const size_t i = kLetters.find(kind); i != std::string_view::npos && at_ <= source_.size())
      return kMeant[i];
    if (kind == 'x') return take_code(16, 2);
    --at_;
    if (kind >= '0' && kind <= '7') return take_code(8, 3);
    at_ = std::min(at_ + 1, source_.size());
    return error("there is no such escape: use \\n \\t \\\\ \\\" \\x41 \\101");
  }

  Result<char> take_code(int base, size_t most) {
    const std::string_view digits = source_.substr(at_, most);
    unsigned value = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (failed != std::errc() || value > UINT8_MAX) return error("this escape is no character");
    at_ += static_cast<size_t>(end - digits.data());
    return static_cast<char>(value);
  }

  Status take_sign() {
    for (const std::string_view sign : kSigns) {
      if (!source_.substr(at_).starts_with(sign)) continue;
      token_.kind = TokenKind::kSign;
      token_.text = sign;
      at_ += sign.size();
      return {};
    }
    ++at_;
    return error("this character has no meaning here");
  }

  std::string_view source_;
  size_t at_ = 0;
  Token token_;
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view source) { return Lexer(source).all(); }

}  // namespace blip::script
