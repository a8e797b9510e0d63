// SPDX-License-Identifier: MIT
//   either     = both { "||" both }
//   both       = one { "&&" one }
//   one        = "!" one | "(" either ")" | comparison
//   comparison = value OP number | number OP value          OP: == != < <= > >=
//   value      = [ "(int)" | "(long)" ] NAME
#include <fmt/core.h>

#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "jit/filter.h"

namespace blip::jit {

namespace {

struct NamedField {
  std::string_view name;
  FilterField field;
};
constexpr NamedField kFields[] = {{"ret", FilterField::kResult},
                                  {"latency_ns", FilterField::kLatency},
                                  {"depth", FilterField::kDepth},
                                  {"tail", FilterField::kTail}};

struct NamedOp {
  std::string_view text;
  FilterOp op, reversed;
};
constexpr NamedOp kOps[] = {
    // longer ones first
    {"==", FilterOp::kEqual, FilterOp::kEqual},
    {"!=", FilterOp::kNotEqual, FilterOp::kNotEqual},
    {"<=", FilterOp::kLessEqual, FilterOp::kGreaterEqual},
    {">=", FilterOp::kGreaterEqual, FilterOp::kLessEqual},
    {"<", FilterOp::kLess, FilterOp::kGreater},
    {">", FilterOp::kGreater, FilterOp::kLess},
};

struct Value {
  FilterField field;
  FilterType type;
};
struct Number {
  uint64_t bits;
  bool is_negative;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Filter> run() {
    TRY_OK(either());
    skip_blanks();
    if (at_ != text_.size()) return wrong("'&&', '||' or the end should come here");
    return std::move(filter_);
  }

 private:
  static constexpr int kDeepest = 100;

  Result<uint32_t> either() { return chain("||", FilterOp::kOr, &Parser::both); }
  Result<uint32_t> both() { return chain("&&", FilterOp::kAnd, &Parser::one); }

  Result<uint32_t> chain(std::string_view word, FilterOp op, Result<uint32_t> (Parser::*part)()) {
    TRY(uint32_t left, (this->*part)());
    while (take(word)) {
      TRY(const uint32_t right, (this->*part)());
      left = add({.op = op, .left = left, .right = right});
    }
    return left;
  }

  Result<uint32_t> one() {
    if (++depth_ > kDeepest) return wrong("too many parentheses");
    auto parsed = one_inside();
    --depth_;
    return parsed;
  }

  Result<uint32_t> one_inside() {
    if (!ahead("!=") && take("!")) {
      TRY(const uint32_t inner, one());
      return add({.op = FilterOp::kNot, .left = inner});
    }
    if (!is_cast() && take("(")) {
      TRY(const uint32_t inner, either());
      if (!take(")")) return wrong("')' is missing here");
      return inner;
    }
    return comparison();
  }

  Result<uint32_t> comparison() {
    skip_blanks();
    const size_t start = at_;
    const bool number_first = at_ < text_.size() && (std::isdigit(text_[at_]) || text_[at_] == '-');
    Value value{};
    Number number{};
    if (number_first) {
      TRY(number, parse_number());
    } else {
      TRY(value, parse_value());
    }
    skip_blanks();
    const NamedOp* op = take_op();
    if (!op) return wrong("a comparison should come here: == != < <= > >=");
    skip_blanks();
    const size_t second = at_;
    if (number_first) {
      TRY(value, parse_value());
    } else {
      TRY(number, parse_number());
    }
    at_ = number_first ? start : second;  // of the number, for the error
    TRY_OK(check(value, number));
    at_ = end_;
    return add({.op = number_first ? op->reversed : op->op,
                .field = value.field,
                .type = value.type,
                .value = number.bits});
  }

  Status check(const Value& value, const Number& number) const {
    constexpr uint64_t kMostInt = INT32_MAX, kMostLong = INT64_MAX;
    if (value.type == FilterType::kUnsigned && number.is_negative)
      return wrong(value.field == FilterField::kResult
                       ? "ret is unsigned, all 64 bits of rax: say (int)ret or (long)ret"
                       : "it is never negative");
    const uint64_t most = value.type == FilterType::kInt ? kMostInt : kMostLong;
    const uint64_t size = number.is_negative ? ~number.bits : number.bits;
    if (value.type != FilterType::kUnsigned && size > most)
      return wrong(value.type == FilterType::kInt ? "no int is that large" : "no long is that large");
    return {};
  }

  bool is_cast() {
    skip_blanks();
    const size_t start = at_;
    const bool cast = parse_cast().has_value();
    at_ = start;
    return cast;
  }

  std::optional<FilterType> parse_cast() {
    if (!take("(")) return {};
    skip_blanks();
    const std::string_view word = name_here();
    if (word != "int" && word != "long") return {};
    at_ += word.size();
    if (!take(")")) return {};
    return word == "int" ? FilterType::kInt : FilterType::kLong;
  }

  Result<Value> parse_value() {
    Value value{FilterField::kResult, FilterType::kUnsigned};
    const bool has_cast = is_cast();
    if (has_cast) value.type = *parse_cast();
    skip_blanks();
    const std::string_view word = name_here();
    if (word.empty()) return wrong("ret, latency_ns, depth, tail or a number should come here");
    for (const NamedField& f : kFields) {
      if (f.name != word) continue;
      if (has_cast && f.field != FilterField::kResult) return wrong("only ret can be taken as another type");
      value.field = f.field;
      end_ = at_ += word.size();
      return value;
    }
    return wrong(fmt::format("there is no field '{}': use ret, latency_ns, depth or tail", word));
  }

  Result<Number> parse_number() {
    const size_t start = at_;
    const bool negative = at_ < text_.size() && text_[at_] == '-';
    if (negative) ++at_;
    const std::string_view digits = name_here();
    if (digits.empty() || !std::isdigit(digits[0])) {
      at_ = start;
      return wrong("a number should come here");
    }
    const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
    const int base = hex ? 16 : digits.size() > 1 && digits[0] == '0' ? 8 : 10;
    const char* begin = digits.data() + (hex ? 2 : 0);
    const char* end = digits.data() + digits.size();
    uint64_t bits = 0;
    const auto [last, error] = std::from_chars(begin, end, bits, base);
    at_ = start;
    if (error == std::errc::result_out_of_range) return wrong("the number is too large");
    if (error != std::errc() || last != end) return wrong(fmt::format("'{}' is no number", digits));
    end_ = at_ = static_cast<size_t>(end - text_.data());
    return Number{negative ? ~bits + 1 : bits, negative && bits != 0};
  }

  const NamedOp* take_op() {
    for (const NamedOp& op : kOps)
      if (take(op.text)) return &op;
    return nullptr;
  }

  std::string_view name_here() const {
    size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_'))
      ++end;
    return text_.substr(at_, end - at_);
  }
  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool ahead(std::string_view word) {
    skip_blanks();
    return text_.substr(at_).starts_with(word);
  }
  bool take(std::string_view word) {
    if (!ahead(word)) return false;
    at_ += word.size();
    return true;
  }
  uint32_t add(FilterNode node) {
    filter_.push_back(node);
    return static_cast<uint32_t>(filter_.size() - 1);
  }
  Error wrong(std::string_view what) const {
    return Error(ErrorKind::kUsage, fmt::format("{}\n  {}\n  {:>{}}", what, text_, "^", at_ + 1));
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t end_ = 0;  // of the last value or number
  int depth_ = 0;
  Filter filter_;
};

}  // namespace

Result<Filter> parse_filter(std::string_view text) { return Parser(text).run(); }

}  // namespace blip::jit
