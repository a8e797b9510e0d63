// SPDX-License-Identifier: MIT
// Finds the name in a demangled declaration. Everything nested, and everything that is part of an operator's
// name, is first masked, so that what is left can be cut with plain searches:
//
//     unsigned long ns::f<int, std::pair<int, int> >(char const*) const      text
//     unsigned long ns::f****************************(***********) const      mask
//                   ^ after the last space          ^ the last parenthesis
#include <array>
#include <string>
#include <string_view>

#include "elf/demangle.h"

namespace blip::elf {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr char kMasked = '*';

// Different code than the function they lead to, so they stay different names.
constexpr std::array<std::string_view, 8> kPrefixes = {
    "non-virtual thunk to ",  "virtual thunk to ",          "covariant return thunk to ",
    "guard variable for ",    "TLS init function for ",     "TLS wrapper function for ",
    "transaction clone for ", "non-transaction clone for ",
};

// The operators whose symbols look like brackets; longest first where one begins another.
constexpr std::array<std::string_view, 13> kBracketOperators = {"()", "[]", "<=>", "<<=", ">>=", "->*", "->",
                                                                "<<", ">>", "<=",  ">=",  "<",   ">"};

constexpr std::array<std::string_view, 5> kQualifiers = {" const", " volatile", " &&", " &", " noexcept"};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Masker {
 public:
  explicit Masker(std::string_view text) : text_(text), mask_(text) {}

  std::string run() && {
    for (size_t i = 0; i < text_.size();) i = step(i);
    return std::move(mask_);
  }

 private:
  size_t step(size_t i) {
    if (size_t length = operator_length(i)) return hide(i, length);
    char c = text_[i];
    if (c == '(' && text_.substr(i).starts_with("(anonymous namespace)")) return hide(i, 21);
    if (c == '(' || c == '<' || c == '{' || c == '[') return open(i);
    if (c == ')' || c == '}' || c == ']') return close(i);
    bool arrow = i > 0 && text_[i - 1] == '-';
    if (c == '>' && !arrow && open_.ends_with('<')) open_.pop_back();
    if (c == '>' || !open_.empty() || in_operator_) return hide(i, 1);
    return i + 1;
  }

  // "operator<<" -> 10; also "operator" alone, whose type or word follows ("operator bool", "operator new").
  size_t operator_length(size_t i) {
    constexpr std::string_view kWord = "operator";
    if (text_[i] != 'o') return 0;  // nearly always
    std::string_view rest = text_.substr(i);
    if (!rest.starts_with(kWord) || (i > 0 && is_word(text_[i - 1]))) return 0;
    rest.remove_prefix(kWord.size());
    if (!rest.empty() && is_word(rest[0])) return 0;
    if (open_.empty()) in_operator_ = true;
    for (std::string_view symbol : kBracketOperators)
      if (rest.starts_with(symbol)) return kWord.size() + symbol.size();
    return kWord.size();
  }

  size_t hide(size_t i, size_t length) {
    mask_.replace(i, length, length, kMasked);
    return i + length;
  }

  size_t open(size_t i) {
    bool visible = open_.empty() && text_[i] == '(';
    if (visible) in_operator_ = false;
    open_ += text_[i];
    return visible ? i + 1 : hide(i, 1);
  }

  // A '<' still open here was a "less than" inside of an expression.
  size_t close(size_t i) {
    constexpr std::string_view kOpening = "({[", kClosing = ")}]";
    size_t at = open_.rfind(kOpening[kClosing.find(text_[i])]);
    if (at != std::string::npos) open_.resize(at);
    return open_.empty() && text_[i] == ')' ? i + 1 : hide(i, 1);
  }

  std::string_view text_;
  std::string mask_;
  std::string open_;  // the brackets open now
  bool in_operator_ = false;
};

std::string_view without_qualifiers(std::string_view text) {
  for (bool again = true; again;) {
    again = false;
    for (std::string_view qualifier : kQualifiers) {
      if (!text.ends_with(qualifier)) continue;
      text.remove_suffix(qualifier.size());
      again = true;
    }
  }
  return text;
}

// Behind the return type. A space after ')' may belong to an enclosing member function: "A::f() const::B::g".
size_t name_start(std::string_view text, std::string_view mask) {
  for (size_t at = mask.size(); (at = mask.substr(0, at).rfind(' ')) != kNone;) {
    std::string_view rest = text.substr(at);
    bool enclosing = at > 0 && mask[at - 1] == ')' && (rest.starts_with(" const") || rest.starts_with(" &"));
    if (!enclosing) return at + 1;
  }
  return 0;
}

std::string_view name_in(std::string_view text) {
  std::string_view declaration = without_qualifiers(text);
  std::string whole_mask = Masker(declaration).run();
  std::string_view mask = whole_mask;
  if (!mask.ends_with(')')) return text;
  mask = mask.substr(0, mask.rfind('('));
  if (mask.ends_with(')')) {  // "void (*f(int))(char)": f returns a pointer to a function
    size_t inner = mask.rfind('(') + 1;
    if (declaration[inner] == '*' || declaration[inner] == '&')
      return name_in(declaration.substr(inner + 1, mask.size() - inner - 2));
  }
  size_t start = name_start(declaration, mask);
  return declaration.substr(start, mask.size() - start);
}

std::string without_abi_tags(std::string_view name) {
  std::string result(name);
  for (size_t at; (at = result.find("[abi:")) != std::string::npos;) {
    size_t close = result.find(']', at);
    if (close == std::string::npos) break;
    result.erase(at, close + 1 - at);
  }
  return result;
}

}  // namespace

std::string without_parameters(std::string_view demangled) {
  for (std::string_view prefix : kPrefixes)
    if (demangled.starts_with(prefix))
      return std::string(prefix) + without_parameters(demangled.substr(prefix.size()));
  size_t clone = demangled.find(" [clone ");
  if (clone == kNone) return without_abi_tags(name_in(demangled));
  return without_abi_tags(name_in(demangled.substr(0, clone))) + std::string(demangled.substr(clone));
}

std::string with_parameters(std::string_view demangled) {
  for (std::string_view prefix : kPrefixes)
    if (demangled.starts_with(prefix))
      return std::string(prefix) + with_parameters(demangled.substr(prefix.size()));
  const std::string_view declaration = demangled.substr(0, demangled.find(" [clone "));
  const auto start = static_cast<size_t>(name_in(declaration).data() - declaration.data());
  const bool is_odd = start != 0 && (declaration[start - 1] == '*' || declaration[start - 1] == '&');
  return without_abi_tags(demangled.substr(is_odd ? 0 : start));
}

}  // namespace blip::elf
