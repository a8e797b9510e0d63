// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

#include "bt/tree_parser.h"

namespace blip::bt {

namespace {

constexpr unsigned kDeepest = 200;

struct Sign {
  std::string_view text;
  int level;
};
// The longer ones first.
constexpr std::array<Sign, 18> kBinary{{{"||", 1},
                                        {"&&", 2},
                                        {"==", 6},
                                        {"!=", 6},
                                        {"<=", 7},
                                        {">=", 7},
                                        {"<<", 8},
                                        {">>", 8},
                                        {"|", 3},
                                        {"^", 4},
                                        {"&", 5},
                                        {"<", 7},
                                        {">", 7},
                                        {"+", 9},
                                        {"-", 9},
                                        {"*", 10},
                                        {"/", 10},
                                        {"%", 10}}};
constexpr std::array<std::string_view, 10> kAssigning = {
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_number_behind(std::string_view name, std::string_view prefix) {
  return name.size() > prefix.size() && name.starts_with(prefix) &&
         std::all_of(name.begin() + static_cast<ptrdiff_t>(prefix.size()), name.end(), is_digit);
}

}  // namespace

bool is_builtin(std::string_view name) {
  static const std::set<std::string_view> kNames = {"args",
                                                    "ctx",
                                                    "kstack",
                                                    "nsecs",
                                                    "pid",
                                                    "tid",
                                                    "ustack",
                                                    "__builtin_comm",
                                                    "__builtin_cpid",
                                                    "__builtin_cpu",
                                                    "__builtin_elapsed",
                                                    "__builtin_func",
                                                    "__builtin_ncpus",
                                                    "__builtin_probe",
                                                    "__builtin_retval"};
  return kNames.contains(name) || is_number_behind(name, "arg") || is_number_behind(name, "sarg");
}

Status TreeParser::expect(std::string_view sign) {
  if (scan_.accept(sign)) return {};
  return scan_.error(fmt::format("a '{}' is missing here", sign));
}

Result<ExprPtr> TreeParser::whole_expression() {
  TRY(ExprPtr e, expression());
  here();
  if (!scan_.at_end()) return scan_.error("this is no part of the expression");
  return e;
}

Result<ExprPtr> TreeParser::expression() {
  const Deeper deeper(depth_);
  if (depth_ > kDeepest) return scan_.error("this is nested too deep");
  const size_t begin = here();
  TRY(ExprPtr test, binary(1));
  if (!scan_.accept("?")) return test;
  auto e = make(Kind::kConditional, begin);
  e->operands.push_back(std::move(test));
  if (scan_.accept(":")) {  // a ?: b
    e->operands.push_back(nullptr);
  } else {
    TRY(ExprPtr yes, expression());
    e->operands.push_back(std::move(yes));
    TRY_OK(expect(":"));
  }
  TRY(ExprPtr no, expression());
  e->operands.push_back(std::move(no));
  e->range = scan_.range(begin);
  return e;
}

Result<ExprPtr> TreeParser::binary(int least) {
  const Deeper deeper(depth_);
  if (depth_ > kDeepest) return scan_.error("this is nested too deep");
  const size_t begin = here();
  TRY(ExprPtr left, unary());
  for (;;) {
    const size_t at = here();
    const std::string_view rest = scan_.source().substr(std::min(at, scan_.source().size()));
    const auto starts = [&](std::string_view text) { return rest.starts_with(text); };
    const auto* sign =
        std::find_if(kBinary.begin(), kBinary.end(), [&](const Sign& s) { return starts(s.text); });
    if (sign == kBinary.end() || sign->level < least) return left;
    if (std::any_of(kAssigning.begin(), kAssigning.end(), starts)) return left;
    // The '/' that closes a predicate.
    if (sign->text == "/" && scan_.char_at(scan_.behind_layout(at + 1)) == '{') return left;
    scan_.advance(sign->text.size());
    TRY(ExprPtr right, binary(sign->level + 1));
    auto e = make(Kind::kBinary, begin);
    e->sign = sign->text;
    e->operands.push_back(std::move(left));
    e->operands.push_back(std::move(right));
    left = std::move(e);
  }
}

Result<ExprPtr> TreeParser::unary() {
  const Deeper deeper(depth_);
  if (depth_ > kDeepest) return scan_.error("this is nested too deep");
  const size_t begin = here();
  for (const std::string_view sign : {"++", "--"}) {
    if (!scan_.accept(sign)) continue;
    TRY(ExprPtr of, unary());
    if (!can_be_assigned(*of))
      return scan_.error_at(of->range, fmt::format("{} is for variables and maps", sign));
    auto e = make(Kind::kIncrement, begin);
    e->sign = sign;
    e->is_prefix = true;
    e->operands.push_back(std::move(of));
    return e;
  }
  if (scan_.peek() == '&') {
    scan_.advance();
    const size_t name = here();
    if (scan_.peek() != '$' && scan_.peek() != '@') return scan_.error("& is for variables and maps");
    scan_.advance();
    auto of = make(scan_.char_at(name) == '$' ? Kind::kVariable : Kind::kMap, name);
    of->text = scan_.name_here();
    of->range = scan_.range(name);
    auto e = make(Kind::kAddress, begin);
    e->operands.push_back(std::move(of));
    return e;
  }
  const char c = scan_.peek();
  const bool is_sign = c == '*' || (c == '!' && scan_.peek(1) != '=') || c == '~' || c == '-';
  if (!is_sign) {
    TRY(ExprPtr e, primary());
    return postfix(std::move(e));
  }
  scan_.advance();
  TRY(ExprPtr of, unary());
  auto e = make(Kind::kUnary, begin);
  e->sign = std::string(1, c);
  e->operands.push_back(std::move(of));
  return e;
}

Result<ExprPtr> TreeParser::postfix(ExprPtr of) {
  const size_t begin = of->range.begin;
  for (;;) {
    const size_t before = scan_.at();
    here();
    const char c = scan_.peek(), next = scan_.peek(1);
    if ((c == '.' && next != '.') || (c == '-' && next == '>')) {
      scan_.advance(c == '.' ? 1 : 2);
      here();
      auto e = make(Kind::kField, begin);
      if (c == '.' && is_digit(scan_.peek())) {
        TRY(e->number, scan_.number());
        e->kind = Kind::kItem;
      } else {
        auto name = scan_.accept_name();
        if (!name) return scan_.error("the name of a member is missing here");
        e->text = *name;
      }
      e->operands.push_back(std::move(of));
      of = std::move(e);
    } else if (c == '[') {
      scan_.advance();
      TRY(ExprPtr at, expression());
      TRY_OK(expect("]"));
      auto e = make(Kind::kIndex, begin);
      e->operands.push_back(std::move(of));
      e->operands.push_back(std::move(at));
      of = std::move(e);
    } else if ((c == '+' || c == '-') && c == next) {
      const size_t sign = scan_.at();
      scan_.advance(2);
      if (!can_be_assigned(*of))
        return scan_.error(sign, fmt::format("{}{} is for variables and maps", c, c));
      auto e = make(Kind::kIncrement, begin);
      e->sign = std::string(2, c);
      e->operands.push_back(std::move(of));
      of = std::move(e);
    } else {
      scan_.go_to(before);
      return of;
    }
    of->range = scan_.range(begin);
  }
}

Result<ExprPtr> TreeParser::primary() {
  const Deeper deeper(depth_);
  if (depth_ > kDeepest) return scan_.error("this is nested too deep");
  const size_t begin = here();
  const char c = scan_.peek();
  if (c == '(') return parenthesis();
  if (c == '{') return block(true);
  if (c == '@' || c == '$') return sigil();
  if (begins_name(c)) return word();
  if (is_digit(c)) {
    auto e = make(Kind::kInteger, begin);
    TRY(e->number, scan_.number());
    e->range = scan_.range(begin);
    return e;
  }
  if (c == '"') {
    auto e = make(Kind::kText, begin);
    TRY(e->text, scan_.text());
    e->range = scan_.range(begin);
    return e;
  }
  return scan_.error("an expression is missing here");
}

Result<ExprPtr> TreeParser::sigil() {
  const size_t begin = scan_.at();
  if (scan_.peek() == '@') return map(begin);
  if (scan_.peek(1) == '#') {
    scan_.advance(2);
    return make(Kind::kPositionals, begin);
  }
  if (!is_digit(scan_.peek(1))) return variable(begin);
  scan_.advance();
  const std::string digits = scan_.digits_here();
  auto e = make(Kind::kPositional, begin);
  constexpr size_t kMostDigits = 9;
  if (digits.size() > kMostDigits || digits.find_first_not_of('0') == std::string::npos)
    return scan_.error(begin, "the first parameter is $1");
  e->number = std::stoull(digits);
  return e;
}

Result<ExprPtr> TreeParser::variable(size_t begin) {
  scan_.advance();
  auto e = make(Kind::kVariable, begin);
  if (begins_name(scan_.peek())) e->text = scan_.name_here();
  if (e->text.empty()) return scan_.error("the name of the variable is missing here");
  e->range = scan_.range(begin);
  return e;
}

Result<ExprPtr> TreeParser::map(size_t begin) {
  scan_.advance();
  auto e = make(Kind::kMap, begin);
  if (begins_name(scan_.peek())) e->text = scan_.name_here();
  e->range = scan_.range(begin);
  const size_t behind = scan_.at();
  if (!scan_.accept("[")) {
    scan_.go_to(behind);
    return e;
  }
  std::vector<ExprPtr> keys;
  do {
    TRY(ExprPtr key, expression());
    keys.push_back(std::move(key));
  } while (scan_.accept(","));
  TRY_OK(expect("]"));
  e->kind = Kind::kElement;
  e->range = scan_.range(begin);
  if (keys.size() == 1) {
    e->operands.push_back(std::move(keys[0]));
    return e;
  }
  auto tuple = make(Kind::kTuple, begin);
  tuple->operands = std::move(keys);
  e->operands.push_back(std::move(tuple));
  return e;
}

Result<ExprPtr> TreeParser::word() {
  const size_t begin = scan_.at();
  const std::string_view next = scan_.peek_word();
  if (next == "if") return conditional_block();
  if (next == "sizeof") return of_type(Kind::kSizeOf);
  if (next == "offsetof") return of_type(Kind::kOffsetOf);
  if (next == "typeinfo") return of_type(Kind::kTypeInfo);
  if (scan_.accept_word("comptime")) {
    auto e = make(Kind::kCompileTime, begin);
    TRY(ExprPtr of, unary());
    e->operands.push_back(std::move(of));
    return e;
  }
  std::string name = *scan_.accept_name();
  if (name == "true" || name == "false") {
    auto e = make(Kind::kBool, begin);
    e->number = name == "true";
    return e;
  }
  auto e = make(Kind::kName, begin);
  const size_t behind = scan_.at();
  if (here(); scan_.peek() == '(') return call(std::move(name), begin);
  scan_.go_to(behind);
  e->text = std::move(name);
  return e;
}

Result<ExprPtr> TreeParser::call(std::string name, size_t begin) {
  scan_.advance();
  auto e = make(Kind::kCall, begin);
  e->text = std::move(name);
  if (!scan_.accept(")")) {
    do {
      const size_t at = here();
      if (scan_.peek_word() == "typeof") {
        auto argument = make(Kind::kTypeArgument, at);
        TRY(argument->type, type_or_typeof());
        e->operands.push_back(std::move(argument));
        continue;
      }
      TRY(ExprPtr argument, expression());
      e->operands.push_back(std::move(argument));
    } while (scan_.accept(","));
    TRY_OK(expect(")"));
  }
  e->range = scan_.range(begin);
  return e;
}

Result<ExprPtr> TreeParser::conditional_block() {
  const size_t begin = scan_.at();
  scan_.accept_word("if");
  auto e = make(Kind::kIf, begin);
  TRY(ExprPtr test, parenthesized_condition());
  e->operands.push_back(std::move(test));
  TRY(ExprPtr yes, block(true));
  e->operands.push_back(std::move(yes));
  const size_t behind = scan_.at();
  if (scan_.accept_word("else")) {
    here();
    if (scan_.peek() != '{' && scan_.peek_word() != "if")
      return scan_.error("a '{' or an 'if' is missing here");
    TRY(ExprPtr no, scan_.peek() == '{' ? block(true) : conditional_block());
    e->operands.push_back(std::move(no));
  } else {
    scan_.go_to(behind);
  }
  e->range = scan_.range(begin);
  return e;
}

// A type, or an expression whose type counts.
Result<std::unique_ptr<TypeName>> TreeParser::type_or_typeof() {
  const size_t begin = here();
  const bool has_word = scan_.accept_word("typeof");
  if (has_word) TRY_OK(expect("("));
  TRY(auto found, type());
  const char behind = scan_.char_at(scan_.behind_layout(scan_.at()));
  const bool ends = behind == ')' || behind == ',' || behind == '=' || behind == ';';
  const bool is_known = found && (found->name.find(' ') != std::string::npos || !found->suffixes.empty() ||
                                  !is_builtin(found->name));
  if (!found || !ends || !is_known) {
    scan_.go_to(begin);
    if (has_word) {
      scan_.accept_word("typeof");
      TRY_OK(expect("("));
    }
    found = std::make_unique<TypeName>();
    TRY(found->of, expression());
  }
  if (has_word) TRY_OK(expect(")"));
  found->range = scan_.range(begin);
  return found;
}

Result<ExprPtr> TreeParser::of_type(Kind kind) {
  const size_t begin = here();
  scan_.accept_name();
  auto e = make(kind, begin);
  TRY_OK(expect("("));
  TRY(e->type, type_or_typeof());
  if (kind == Kind::kOffsetOf) {
    TRY_OK(expect(","));
    do {
      auto name = scan_.accept_name();
      if (!name) return scan_.error("the name of a member is missing here");
      e->names.push_back(*std::move(name));
    } while (scan_.accept("."));
  }
  TRY_OK(expect(")"));
  e->range = scan_.range(begin);
  return e;
}

Result<std::unique_ptr<TypeName>> TreeParser::type() {
  const size_t begin = here();
  auto name = scan_.accept_name();
  if (!name) return std::unique_ptr<TypeName>();
  auto result = std::make_unique<TypeName>();
  result->name = *name;
  // "unsigned long" is not bpftrace's, but C's; both words are one type here.
  const std::string_view second = scan_.peek_word();
  if (*name == "struct" || *name == "union" || *name == "enum") {
    if (second.empty()) {
      scan_.go_to(begin);
      return std::unique_ptr<TypeName>();
    }
    result->name += ' ' + *scan_.accept_name();
  }
  size_t behind = scan_.at();
  while (here(), scan_.peek() == '*' || scan_.peek() == '[') {
    const char sign = scan_.peek();
    scan_.advance();
    if (sign == '[') {
      uint64_t size = 0;
      here();
      if (is_digit(scan_.peek())) {
        TRY(size, scan_.number());
      }
      if (!scan_.accept("]")) {
        scan_.go_to(begin);
        return std::unique_ptr<TypeName>();
      }
      result->sizes.push_back(size);
    }
    result->suffixes += sign;
    behind = scan_.at();
  }
  scan_.go_to(behind);
  result->range = scan_.range(begin);
  return result;
}

// "(type)" and something that an expression can begin with; the scanner stands behind the '('.
bool TreeParser::is_cast() {
  const size_t begin = here();
  if (scan_.peek_word() == "typeof") return true;
  if (is_builtin(scan_.peek_word())) return false;
  const auto found = type();
  const bool is_closed = found && *found && scan_.accept(")");
  here();
  const char c = scan_.peek();
  scan_.go_to(begin);
  return is_closed && (is_digit(c) || begins_name(c) ||
                       (c != '\0' && std::string_view("$@\"(-!~*&").find(c) != std::string_view::npos));
}

Result<ExprPtr> TreeParser::record(size_t begin) {
  auto e = make(Kind::kRecord, begin);
  do {
    auto name = scan_.accept_name();
    if (!name) return scan_.error("the name of a member is missing here");
    if (std::find(e->names.begin(), e->names.end(), *name) != e->names.end())
      return scan_.error(fmt::format("there are two members '{}'", *name));
    TRY_OK(expect("="));
    TRY(ExprPtr value, expression());
    e->names.push_back(*std::move(name));
    e->operands.push_back(std::move(value));
  } while (scan_.accept(","));
  TRY_OK(expect(")"));
  e->range = scan_.range(begin);
  return e;
}

Result<ExprPtr> TreeParser::parenthesis() {
  const size_t begin = scan_.at();
  scan_.advance();
  if (scan_.accept(")")) return make(Kind::kTuple, begin);
  const std::string_view name = scan_.peek_word();
  const size_t sign = scan_.behind_layout(scan_.at() + name.size());
  if (!name.empty() && scan_.char_at(sign) == '=' && scan_.char_at(sign + 1) != '=') return record(begin);
  if (is_cast()) {
    auto e = make(Kind::kCast, begin);
    if (scan_.peek_word() == "typeof") {
      TRY(e->type, type_or_typeof());
    } else {
      TRY(e->type, type());
    }
    TRY_OK(expect(")"));
    e->range = scan_.range(begin);
    TRY(ExprPtr of, unary());
    e->operands.push_back(std::move(of));
    return e;
  }
  TRY(ExprPtr first, expression());
  if (!scan_.accept(",")) {
    TRY_OK(expect(")"));
    return first;
  }
  auto e = make(Kind::kTuple, begin);
  e->operands.push_back(std::move(first));
  while (here(), scan_.peek() != ')') {
    TRY(ExprPtr next, expression());
    e->operands.push_back(std::move(next));
    if (!scan_.accept(",")) break;
  }
  TRY_OK(expect(")"));
  e->range = scan_.range(begin);
  return e;
}

Result<ExprPtr> parse_expression(std::string_view source) { return TreeParser(source).whole_expression(); }

}  // namespace blip::bt
