// SPDX-License-Identifier: MIT
// Demangling costs microseconds, a table has hundreds of thousands of names. But mangling keeps identifiers
// as they are (ns::parse is _ZN2ns5parse...), so words of the SPEC must occur in the mangled text, except for
// words that mangling abbreviates
// ("int" is i, "std" is St) or that only the demangler writes ("operator", "lambda").
#include <algorithm>
#include <array>

#include "elf/demangle.h"
#include "elf/mangled_name.h"
#include "elf/match.h"

namespace blip::elf {
namespace {

constexpr size_t kNone = std::string_view::npos;

// Classes and namespaces with a short form (St, Ss, Sa, ...).
constexpr auto kSubstituted = std::to_array<std::string_view>({
    "std",
    "allocator",
    "basic_string",
    "string",
    "char_traits",
    "basic_istream",
    "istream",
    "basic_ostream",
    "ostream",
    "basic_iostream",
    "iostream",
});

// Types, operators and words of explanation.
constexpr auto kWritten = std::to_array<std::string_view>({
    "void",
    "bool",
    "char",
    "short",
    "int",
    "long",
    "float",
    "double",
    "unsigned",
    "signed",
    "wchar_t",
    "char8_t",
    "char16_t",
    "char32_t",
    "__int128",
    "__float128",
    "half",
    "decimal32",
    "decimal64",
    "decimal128",
    "_Float16",
    "_Float32",
    "_Float64",
    "_Float128",
    "_Complex",
    "_Imaginary",
    "auto",
    "decltype",
    "nullptr",
    "nullptr_t",
    "const",
    "volatile",
    "restrict",
    "__restrict",
    "__vector",
    "noexcept",
    "throw",
    "transaction_safe",
    "operator",
    "new",
    "delete",
    "co_await",
    "sizeof",
    "alignof",
    "typeid",
    "dynamic_cast",
    "static_cast",
    "const_cast",
    "reinterpret_cast",
    "true",
    "false",
    "this",
    "lambda",
    "unnamed",
    "type",
    "anonymous",
    "namespace",
    "default",
    "arg",
    "clone",
    "literal",
    "struct",
    "union",
    "enum",
    "template",
});

// Parts of names that Rust's v0 scheme writes as one letter, or leaves out.
constexpr auto kRustWritten = std::to_array<std::string_view>({
    "i8",  "i16",  "i32",   "i64",    "i128",   "isize",   "u8",     "u16",  "u32",
    "u64", "u128", "usize", "f32",    "f64",    "str",     "dyn",    "mut",  "as",
    "fn",  "for",  "shim",  "extern", "unsafe", "closure", "vtable", "impl", "C",
});

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$';  // clang's lambdas: $_7
}

// A run of word characters in a pattern; open where a wildcard may make it longer.
struct Piece {
  std::string_view text;
  bool open_left;
  bool open_right;

  bool could_be_in(std::string_view word) const {
    if (open_left && open_right) return word.find(text) != kNone;
    if (open_left) return word.ends_with(text);
    return open_right ? word.starts_with(text) : word == text;
  }
  bool survives_mangling() const {
    if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
    auto hides = [&](std::string_view word) { return could_be_in(word); };
    return std::none_of(kSubstituted.begin(), kSubstituted.end(), hides) &&
           std::none_of(kWritten.begin(), kWritten.end(), hides) &&
           std::none_of(kRustWritten.begin(), kRustWritten.end(), hides);
  }
};

// The words that a mangled name must contain if the pattern matches its demangled form.
std::vector<std::string> glob_words(std::string_view pattern) {
  constexpr std::string_view kWildcards = "*?[]";
  auto is_wildcard = [&](size_t i) { return i < pattern.size() && kWildcards.find(pattern[i]) != kNone; };
  std::vector<std::string> words;
  for (size_t i = 0; i < pattern.size();) {
    size_t end = i;
    while (end < pattern.size() && is_word(pattern[end])) ++end;
    Piece piece{pattern.substr(i, end - i), i > 0 && is_wildcard(i - 1), is_wildcard(end)};
    if (piece.survives_mangling()) words.emplace_back(piece.text);
    i = std::max(end, i + 1);
    if (pattern[i - 1] != '[') continue;
    size_t close = pattern.find(']', i + 1);  // a class holds no words, and neither does an ABI tag
    if (close != kNone) i = close;
  }
  return words;
}

// "(anonymous namespace)::A<int>::f" -> "::A::f"
std::string without_brackets(std::string_view name) {
  std::string result;
  int depth = 0;
  for (char c : name) {
    if (std::string_view("<({[").find(c) != kNone)
      ++depth;
    else if (std::string_view(">)}]").find(c) != kNone)
      --depth;
    else if (depth == 0)
      result += c;
  }
  return result;
}

// The offset at which an operator's name begins, or the end; is_operator is no operator.
size_t operator_in(std::string_view name) {
  constexpr std::string_view kOperator = "operator";
  for (size_t at = 0; (at = name.find(kOperator, at)) != kNone; at += kOperator.size()) {
    const size_t end = at + kOperator.size();
    if ((at == 0 || !is_word(name[at - 1])) && (end == name.size() || !is_word(name[end]))) return at;
  }
  return name.size();
}

// "A::f(int) const::{lambda()#1}::operator()" has a qualifier in it.
bool is_qualifier(std::string_view word) {
  return word == "const" || word == "volatile" || word == "noexcept";
}

bool is_identifier(std::string_view word) {
  return Piece{.text = word, .open_left = false, .open_right = false}.survives_mangling();
}

// The identifiers that a qualified name ends with, the last one first: "ns::parse" -> parse, ns. For an
// operator they are those of its class.
std::vector<std::string_view> identifiers_in(std::string_view plain) {
  std::vector<std::string_view> words;
  std::string_view rest = plain;
  while (!rest.empty()) {
    size_t begin = rest.size();
    while (begin > 0 && is_word(rest[begin - 1])) --begin;
    const std::string_view word = rest.substr(begin);
    const bool substituted = std::find(kSubstituted.begin(), kSubstituted.end(), word) != kSubstituted.end();
    if (!word.empty() && !substituted && !is_qualifier(word) && (words.empty() || is_identifier(word)))
      words.push_back(word);
    rest = rest.substr(0, word.empty() ? begin - 1 : begin);
    if (!words.empty() && !rest.ends_with(':') && !rest.ends_with('~')) break;
  }
  return words;
}

// Thunks, TLS wrappers and the like: the demangler explains them in words of its own.
bool is_special(std::string_view mangled) { return mangled.starts_with("_ZT") || mangled.starts_with("_ZG"); }

}  // namespace

std::string_view without_clone_suffix(std::string_view mangled) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::array<std::string_view, 5> kKinds = {"constprop", "isra", "lto_priv", "llvm", "__uniq"};
  std::string_view rest = mangled;
  for (size_t dot; (dot = rest.rfind('.')) != kNone && dot != 0;) {
    const std::string_view number = rest.substr(dot + 1);
    const size_t kind_dot = rest.substr(0, dot).rfind('.');
    if (number.empty() || number.find_first_not_of(kDigits) != kNone || kind_dot == kNone || kind_dot == 0)
      break;
    const std::string_view kind = rest.substr(kind_dot + 1, dot - kind_dot - 1);
    if (std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end()) break;
    rest = rest.substr(0, kind_dot);
  }
  return rest.find('.') == kNone ? rest : mangled;  // a part or a version of something, or a name with dots
}

bool is_in_a_scope(std::string_view name, std::string_view wanted) {
  if (operator_in(name) != name.size()) return false;
  if (name.ends_with('>') && !wanted.ends_with('>')) {
    size_t at = name.size();
    for (int depth = 0; at > 0;) {
      const char c = name[--at];
      depth += c == '>' ? 1 : c == '<' ? -1 : 0;
      if (depth == 0) break;
    }
    name = name.substr(0, at);
  }
  if (name == wanted) return true;
  constexpr std::string_view kScope = "::";
  return name.size() > wanted.size() + kScope.size() && name.ends_with(wanted) &&
         name.substr(0, name.size() - wanted.size()).ends_with(kScope);
}

bool is_everything(const Spec& spec) { return spec.kind == SpecKind::kGlob && spec.name == "*"; }

FunctionMatcher::FunctionMatcher(const Spec& spec, Scopes scopes, Clones clones)
    : glob_(spec.kind == SpecKind::kGlob), scopes_(scopes), clones_(clones), name_(spec.name) {
  if (glob_)
    required_ = glob_words(name_);
  else
    require_words();
}

// Mangling writes an identifier's length before it. Rust counts the type arguments in
// ("20drop_in_place$LT$u8$GT$"), so beside them the length is left out.
void FunctionMatcher::require_words() {
  is_explained_ = name_.find(' ') != kNone;
  std::string plain = without_parameters(name_);
  const bool has_arguments = plain.find('<') != std::string::npos;
  const bool has_operator = operator_in(plain) != plain.size();
  plain = without_brackets(std::string_view(plain).substr(0, operator_in(plain)));
  for (const std::string_view word : identifiers_in(plain)) {
    if (word_.empty()) word_ = word;
    required_.push_back((has_arguments ? "" : std::to_string(word.size())) + std::string(word));
  }
  is_path_ = !word_.empty() && name_.ends_with(word_) && !has_operator &&
             std::all_of(name_.begin(), name_.end(), [](char c) { return is_word(c) || c == ':'; });
}

bool FunctionMatcher::equal_or_glob(std::string_view text) const {
  return glob_ ? glob_match(name_, text) : name_ == text;
}

bool FunctionMatcher::ends_in_name(std::string_view plain) const {
  return scopes_ == Scopes::kAny && is_in_a_scope(plain, name_);
}

// Rust's v0 scheme may put a '_' between the length and the word.
bool FunctionMatcher::could_match(std::string_view mangled) const {
  if (is_special(mangled) && (glob_ || is_explained_)) return true;
  if (const auto last = is_path_ ? last_identifier(mangled) : std::nullopt; last && *last != word_)
    return false;
  const bool lengths = !is_rust_v0(mangled);
  return std::all_of(required_.begin(), required_.end(), [&](std::string_view word) {
    if (!lengths) word.remove_prefix(std::min(word.find_first_not_of("0123456789"), word.size()));
    return mangled.find(word) != kNone;
  });
}

// With its hash only where the SPEC can have one: it costs another demangling.
bool FunctionMatcher::matches_with_hash(std::string_view mangled) const {
  if (name_.find("::h") == std::string::npos) return false;
  auto name = demangle_with_hash(mangled);
  return name && equal_or_glob(*name);
}

bool FunctionMatcher::matches_name(std::string_view name) const {
  if (equal_or_glob(name)) return true;
  if (!is_mangled(name) || !could_match(name)) return false;
  std::string demangled = demangle(name);
  if (is_rust_v0(name))
    return equal_or_glob(demangled) || equal_or_glob(without_rust_generics(demangled)) ||
           ends_in_name(without_rust_generics(demangled));
  const std::string plain = without_parameters(demangled);
  return equal_or_glob(demangled) || equal_or_glob(plain) || ends_in_name(plain) || matches_with_hash(name);
}

bool FunctionMatcher::matches(const Function& function) const {
  if (glob_ && function.is_cold) return false;
  if (matches_name(function.name)) return true;
  if (glob_ || clones_ == Clones::kNone) return false;
  const std::string_view base = without_clone_suffix(function.name);
  return base.size() != function.name.size() && matches_name(base);
}

}  // namespace blip::elf
