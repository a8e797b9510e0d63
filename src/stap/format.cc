// SPDX-License-Identifier: MIT
#include "stap/format.h"

#include <algorithm>

namespace blip::stap {

namespace {

using Kind = Directive::Kind;

constexpr PrintKind kPrints[] = {
    {.name = "print"},
    {.name = "print_char", .is_char = true},
    {.name = "printd", .has_delimiter = true},
    {.name = "printdln", .has_delimiter = true, .has_newline = true},
    {.name = "printf", .has_format = true},
    {.name = "println", .has_newline = true},
    {.name = "sprint", .is_text = true},
    {.name = "sprintd", .is_text = true, .has_delimiter = true},
    {.name = "sprintdln", .is_text = true, .has_delimiter = true, .has_newline = true},
    {.name = "sprintf", .is_text = true, .has_format = true},
    {.name = "sprintln", .is_text = true, .has_newline = true},
};

constexpr int kMaxWidth = 1 << 16;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class FormatParser {
 public:
  explicit FormatParser(std::string_view text) : text_(text) {}

  Result<std::vector<Directive>> run() {
    while (!is_end()) {
      if (peek() != '%') {
        literal_ += take();
      } else if (text_.size() == at_ + 1 || text_[at_ + 1] == '%') {
        literal_ += '%';
        at_ += 2;
      } else {
        ++at_;
        TRY_OK(conversion());
      }
    }
    end_literal();
    return std::move(result_);
  }

 private:
  bool is_end() const { return at_ >= text_.size(); }
  char peek() const { return is_end() ? '\0' : text_[at_]; }
  char take() { return text_[at_++]; }
  bool accept(char c) { return peek() == c && !is_end() && (++at_, true); }

  void end_literal() {
    if (!literal_.empty()) result_.push_back({.literal = std::move(literal_)});
    literal_.clear();
  }

  Status conversion() {
    end_literal();
    Directive d;
    switch (peek()) {
      case '0':
        d.pads_zero = true;
        break;
      case '+':
        d.has_plus = true;
        break;
      case '-':
        d.is_left = true;
        break;
      case ' ':
        d.has_space = true;
        break;
      case '#':
        d.is_special = true;
        break;
      default:
        --at_;
    }
    ++at_;
    d.takes_width = accept('*');
    if (!d.takes_width) d.width = number();
    if (accept('.')) {
      d.takes_precision = accept('*');
      if (!d.takes_precision) d.precision = number();
    }
    accept('l');
    TRY_OK(letter(d));
    result_.push_back(std::move(d));
    return {};
  }

  std::optional<int> number() {
    if (!is_digit(peek())) return std::nullopt;
    int value = 0;
    while (is_digit(peek())) value = std::min(kMaxWidth, value * 10 + (take() - '0'));
    return value;
  }

  Status letter(Directive& d) {
    if (is_end()) return Error(ErrorKind::kUsage, "the conversion at the end of this format is not complete");
    const char c = take();
    d.kind = Kind::kNumber;
    switch (c) {
      case 'b':
        d.kind = Kind::kBinary;
        return {};
      case 'c':
        d.kind = Kind::kCharacter;
        return {};
      case 's':
        d.kind = Kind::kText;
        return {};
      case 'm':
        d.kind = Kind::kMemory;
        return {};
      case 'M':
        d.kind = Kind::kMemoryHex;
        return {};
      case 'd':
      case 'i':
        d.is_signed = true;
        return {};
      case 'u':
        return {};
      case 'o':
        d.base = 8;
        return {};
      case 'X':
        d.is_upper = true;
        d.base = 16;
        return {};
      case 'x':
        d.base = 16;
        return {};
      case 'p':
        d.kind = Kind::kPointer;
        d.is_special = true;
        d.base = 16;
        return {};
      default:
        return Error(ErrorKind::kUsage, "after a % one of b c d i m M o p s u x X is expected, or another %");
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string literal_;
  std::vector<Directive> result_;
};

}  // namespace

const PrintKind* find_print(std::string_view name) {
  const auto* found = std::find_if(std::begin(kPrints), std::end(kPrints),
                                   [&](const PrintKind& k) { return k.name == name; });
  return found == std::end(kPrints) ? nullptr : found;
}

Result<std::vector<Directive>> parse_format(std::string_view format) { return FormatParser(format).run(); }

Status check_format(std::string_view format, const Spot& spot) {
  const auto directives = parse_format(format);
  return directives ? Status() : Status(error_at(spot, directives.error().message()));
}

}  // namespace blip::stap
