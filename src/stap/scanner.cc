// SPDX-License-Identifier: MIT
#include "stap/scanner.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace blip::stap {

namespace {

constexpr size_t kMaxExpanded = 1 << 22;  // bytes that arguments may make of a script

constexpr std::string_view kKeywords[] = {
    "break", "catch", "continue", "delete", "else",    "for",   "foreach", "function", "global", "if",
    "in",    "limit", "long",     "next",   "private", "probe", "return",  "string",   "try",    "while"};

// Longer ones first.
constexpr std::string_view kSigns[] = {"<<<", ">>>", "<<=", ">>=", "==", "!=", "<=", ">=", "=~", "!~",
                                       "+=",  "-=",  "*=",  "/=",  "%=", "&=", "^=", "|=", ".=", "&&",
                                       "||",  "++",  "--",  "->",  "<<", ">>", "%(", "%?", "%:", "%)"};

bool is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(int c) { return c >= '0' && c <= '9'; }
bool is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_of_name(int c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }
bool is_octal(int c) { return c >= '0' && c <= '7'; }
bool is_punctuation(int c) { return c > ' ' && c < 0x7f && !is_letter(c) && !is_digit(c); }

int hex_digit(int c) {
  if (is_digit(c)) return c - '0';
  const int lower = c | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result + '"';
}

class Scanner {
 public:
  Scanner(const Source& source, const std::vector<std::string>& arguments)
      : source_(source), arguments_(arguments), text_(source.text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    do tokens.push_back(next());
    while (tokens.back().kind != TokenKind::kEnd);
    return tokens;
  }

 private:
  // -1 behind the end.
  int peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? static_cast<unsigned char>(text_[at_ + ahead]) : -1;
  }

  int take() {
    const int c = peek();
    if (c < 0) return c;
    ++at_;
    if (inserted_ > 0)
      --inserted_;
    else
      ++place_;
    return c;
  }

  void skip(size_t count) {
    for (size_t i = 0; i < count; ++i) take();
  }

  Token next() {
    Token token;
    for (;;) {
      token.is_after_space = skip_space() || token.is_after_space;
      begin_ = place_;
      if (!is_argument()) break;
      if (!substitute(token)) return finish(token);
    }
    scan_one(token);
    return finish(token);
  }

  Token& finish(Token& token) {
    token.spot = {
        &source_,
        {begin_, std::max(place_, std::min(begin_ + 1, static_cast<uint32_t>(source_.text.size())))}};
    return token;
  }

  // White space and comments.
  bool skip_space() {
    const size_t before = at_;
    for (;;) {
      if (is_space(peek())) {
        take();
      } else if (peek() == '#' || (peek() == '/' && peek(1) == '/')) {
        while (peek() >= 0 && peek() != '\n') take();
      } else if (peek() == '/' && peek(1) == '*') {
        skip(2);
        while (peek() >= 0 && !(peek() == '*' && peek(1) == '/')) take();
        skip(2);
      } else {
        return at_ != before;
      }
    }
  }

  bool is_argument() const {
    return (peek() == '$' || peek() == '@') && (peek(1) == '#' || is_digit(peek(1)));
  }

  // False: the token says why not.
  bool substitute(Token& token) {
    const bool is_nested = inserted_ > 0;
    const bool is_text = take() == '@';
    std::string value;
    bool is_there = true;
    if (peek() == '#') {
      take();
      value = std::to_string(arguments_.size());
    } else {
      size_t number = 0;
      while (is_digit(peek()) && number <= arguments_.size())
        number = number * 10 + static_cast<size_t>(take() - '0');
      is_there = number > 0 && number <= arguments_.size();
      if (is_there) value = arguments_[number - 1];
    }
    token.kind = TokenKind::kJunk;
    if (is_nested) {
      token.text = "an argument of the command line may not name another one";
    } else if (!is_there) {
      token.text = arguments_.empty()
                       ? "this argument is missing: none is given on the command line"
                       : fmt::format("this argument is missing: the command line has {}", arguments_.size());
    } else if (text_.size() + value.size() > kMaxExpanded) {
      token.text = "the arguments of the command line make the script too long";
    } else {
      if (is_text) value = quoted(value);
      text_.insert(at_, value);
      inserted_ = value.size();
      return true;
    }
    return false;
  }

  void scan_one(Token& token) {
    const int c = peek();
    if (c < 0) return;
    if (is_letter(c) || c == '$' || c == '@' || c == '_') return word(token);
    if (is_digit(c)) return number(token);
    if (c == '"') return text(token);
    if (c == '%' && peek(1) == '{') return embedded(token);
    if (is_punctuation(c)) return sign(token);
    take();
    token.kind = TokenKind::kJunk;
    token.text = fmt::format("the character \\x{:02x} has no meaning here", c);
  }

  void word(Token& token) {
    do token.text += static_cast<char>(take());
    while (is_of_name(peek()));
    if (token.text[0] == '@')
      token.kind = TokenKind::kSign;
    else
      token.kind = is_keyword(token.text) ? TokenKind::kKeyword : TokenKind::kName;
  }

  void number(Token& token) {
    token.kind = TokenKind::kNumber;
    while (is_digit(peek()) || is_letter(peek())) token.text += static_cast<char>(take());
  }

  void text(Token& token) {
    take();
    for (;;) {
      const int c = take();
      if (c < 0 || c == '\n') {
        token.kind = TokenKind::kJunk;
        token.text = "the quote that ends this text is missing";
        return;
      }
      if (c == '"') break;
      if (c == '\\')
        escape(token.text);
      else
        token.text += static_cast<char>(c);
    }
    token.kind = TokenKind::kText;
  }

  void escape(std::string& text) {
    const int c = peek();
    if (is_octal(c)) {
      int value = 0;
      for (int i = 0; i < 3 && is_octal(peek()); ++i) value = value * 8 + (take() - '0');
      text += static_cast<char>(value);
      return;
    }
    if (c < 0) return;
    take();
    if (c == 'x' && hex_digit(peek()) >= 0) {
      int value = 0;
      while (hex_digit(peek()) >= 0) value = (value * 16 + hex_digit(take())) & 0xff;
      text += static_cast<char>(value);
      return;
    }
    constexpr std::string_view kFrom = "abtnvfr", kTo = "\a\b\t\n\v\f\r";
    const size_t which = kFrom.find(static_cast<char>(c));
    text += which == std::string_view::npos ? static_cast<char>(c) : kTo[which];
  }

  void embedded(Token& token) {
    skip(2);
    while (peek() >= 0 && !(peek() == '%' && peek(1) == '}')) token.text += static_cast<char>(take());
    token.kind = TokenKind::kEmbedded;
    if (peek() < 0) {
      token.kind = TokenKind::kJunk;
      token.text = "the %} that ends this embedded code is missing";
    }
    skip(2);
  }

  void sign(Token& token) {
    token.kind = TokenKind::kSign;
    const std::string_view rest = std::string_view(text_).substr(at_, 3);
    const auto* found = std::find_if(std::begin(kSigns), std::end(kSigns),
                                     [&](std::string_view s) { return rest.substr(0, s.size()) == s; });
    token.text = found == std::end(kSigns) ? rest.substr(0, 1) : *found;
    skip(token.text.size());
  }

  const Source& source_;
  const std::vector<std::string>& arguments_;
  std::string text_;  // with what was inserted
  size_t at_ = 0;
  size_t inserted_ = 0;  // so many of the next characters were
  uint32_t place_ = 0;   // in the source
  uint32_t begin_ = 0;   // of the token
};

}  // namespace

bool is_keyword(std::string_view word) {
  return std::binary_search(std::begin(kKeywords), std::end(kKeywords), word);
}

std::vector<Token> scan(const Source& source, const std::vector<std::string>& arguments) {
  return Scanner(source, arguments).run();
}

}  // namespace blip::stap
