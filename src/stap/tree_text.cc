// SPDX-License-Identifier: MIT
#include "stap/tree_text.h"

#include <fmt/format.h>

#include "stap/format.h"

namespace blip::stap {

namespace {

using Kind = Expression::Kind;

std::string list_text(const std::vector<ExpressionPtr>& all, std::string result = "") {
  for (const ExpressionPtr& e : all) {
    if (!result.empty()) result += ", ";
    result += e == nullptr ? "*" : text_of(*e);
  }
  return result;
}

std::string components_text(const Expression& e) {
  std::string result;
  for (const Component& c : e.components) {
    if (c.kind == Component::Kind::kMember)
      result += "->" + c.text;
    else if (c.kind == Component::Kind::kIndex)
      result += "[" + text_of(*c.index) + "]";
    else
      result += c.text;
  }
  return result;
}

// What stands in parentheses behind a word: operands, then texts and numbers.
std::string arguments_text(const Expression& e) {
  std::string result = list_text(e.operands);
  const auto add = [&](const std::string& text) { result += (result.empty() ? "" : ", ") + text; };
  if (!e.format.empty()) add(quoted(e.format));
  if (!e.module.empty()) add(quoted(e.module));
  for (const int64_t number : e.numbers) add(std::to_string(number));
  return result;
}

std::string print_text(const Expression& e) {
  if (e.base != nullptr) return fmt::format("{}({})", e.text, text_of(*e.base));
  const PrintKind* kind = find_print(e.text);
  const bool has_text = kind != nullptr && (kind->has_format || kind->has_delimiter);
  return fmt::format("{}({})", e.text, list_text(e.operands, has_text ? quoted(e.format) : ""));
}

std::string target_text(const Expression& e) {
  std::string result = e.is_address ? "&" : "";
  if (e.kind == Kind::kTarget)
    result += e.text;
  else if (e.kind == Kind::kAutocast)
    result += fmt::format("({})", text_of(*e.operands[0]));
  else
    result += fmt::format("{}({})", e.text, arguments_text(e));
  return result + components_text(e);
}

std::string infix_text(const Expression& e) {
  return fmt::format("({} {} {})", text_of(*e.operands[0]), e.text, text_of(*e.operands[1]));
}

std::string array_text(const Expression& e) { return e.base == nullptr ? e.text : text_of(*e.base); }

std::string foreach_text(const Foreach& f) {
  const auto sign = [&](uint32_t column) -> std::string {
    if (f.direction == 0 || f.column != column || !f.statistic.empty()) return "";
    return f.direction > 0 ? "+" : "-";
  };
  std::string keys;
  for (uint32_t i = 0; i < f.keys.size(); ++i) keys += (i == 0 ? "" : ", ") + f.keys[i]->text + sign(i + 1);
  std::string result = f.value == nullptr ? "" : f.value->text + " = ";
  result += fmt::format("[{}] in {}", keys, f.histogram == nullptr ? f.array : text_of(*f.histogram));
  if (f.has_slice) result += "[" + list_text(f.slice) + "]";
  if (f.direction != 0 && f.column == 0)
    result += (f.statistic.empty() ? "" : " " + f.statistic) + (f.direction > 0 ? "+" : "-");
  if (f.limit != nullptr) result += " limit " + text_of(*f.limit);
  return result;
}

std::string or_empty(const ExpressionPtr& e) { return e == nullptr ? "" : text_of(*e); }

std::string variable_text(const Variable& v) {
  std::string result = v.name;
  if (v.wraps) result += "%";
  if (v.size) result += fmt::format("[{}]", *v.size);
  if (!v.is_global && v.type != Type::kUnknown) result += fmt::format(":{}", name_of(v.type));
  if (v.init != nullptr) result += " = " + text_of(*v.init);
  return result;
}

std::string points_text(const std::vector<ProbePoint>& points, std::string_view between) {
  std::string result;
  for (const ProbePoint& point : points)
    result += (result.empty() ? "" : std::string(between)) + text_of(point);
  return result;
}

std::string function_text(const Function& f) {
  std::string parameters;
  for (const auto& p : f.parameters) parameters += (parameters.empty() ? "" : ", ") + variable_text(*p);
  const std::string type = f.is_typed ? fmt::format(":{}", name_of(f.type)) : "";
  return fmt::format("{}function {}{}({}) {}\n", f.is_private ? "private " : "", f.name, type, parameters,
                     text_of(*f.body));
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else if (c < ' ' || c == '\x7f')
      result += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result + '"';
}

std::string_view name_of(Type type) {
  switch (type) {
    case Type::kUnknown:
      return "unknown";
    case Type::kLong:
      return "long";
    case Type::kString:
      return "string";
    case Type::kStats:
      return "stats";
  }
  return "";
}

std::string text_of(const Expression& e) {
  switch (e.kind) {
    case Kind::kNumber:
      return std::to_string(static_cast<int64_t>(e.number));
    case Kind::kText:
      return quoted(e.text);
    case Kind::kName:
      return e.text;
    case Kind::kElement:
      return fmt::format("{}[{}]", array_text(e), list_text(e.operands));
    case Kind::kIn:
      return fmt::format("([{}] in {})", list_text(e.operands), array_text(e));
    case Kind::kUnary:
      return fmt::format("({}{})", e.text, text_of(*e.operands[0]));
    case Kind::kIncrement:
      return e.is_prefix ? fmt::format("({}{})", e.text, text_of(*e.operands[0]))
                         : fmt::format("({}{})", text_of(*e.operands[0]), e.text);
    case Kind::kTernary:
      return fmt::format("({} ? {} : {})", text_of(*e.operands[0]), text_of(*e.operands[1]),
                         text_of(*e.operands[2]));
    case Kind::kCall:
      return fmt::format("{}({})", e.text, list_text(e.operands));
    case Kind::kPrint:
      return print_text(e);
    case Kind::kTarget:
    case Kind::kCast:
    case Kind::kVar:
    case Kind::kAutocast:
      return target_text(e);
    case Kind::kRegister:
      return fmt::format("{}({})", e.text, e.number);
    case Kind::kDeref:
      return fmt::format("{}({}, {})", e.text, e.number, text_of(*e.operands[0]));
    case Kind::kEmbedded:
      return "%{ %}";
    case Kind::kStatistic:
    case Kind::kHistogram:
    case Kind::kDefined:
    case Kind::kEntry:
    case Kind::kPerf:
    case Kind::kEnum:
    case Kind::kEnumName:
      return fmt::format("{}({})", e.text, arguments_text(e));
    case Kind::kProbeWrite:
      return fmt::format("{}({})", e.text, e.format);
    default:
      return infix_text(e);
  }
}

std::string text_of(const Statement& s) {
  using S = Statement::Kind;
  switch (s.kind) {
    case S::kEmpty:
      return ";";
    case S::kBlock: {
      std::string result = "{ ";
      for (const StatementPtr& one : s.body) result += text_of(*one) + " ";
      return result + "}";
    }
    case S::kExpression:
      return text_of(*s.value) + ";";
    case S::kIf: {
      const std::string head = fmt::format("if ({}) {}", text_of(*s.value), text_of(*s.body[0]));
      return s.body.size() == 1 ? head : head + " else " + text_of(*s.body[1]);
    }
    case S::kFor:
      return fmt::format("for ({}; {}; {}) {}", or_empty(s.init), or_empty(s.value), or_empty(s.step),
                         text_of(*s.body[0]));
    case S::kForeach:
      return fmt::format("foreach ({}) {}", foreach_text(*s.foreach), text_of(*s.body[0]));
    case S::kReturn:
      return s.value == nullptr ? "return;" : fmt::format("return {};", text_of(*s.value));
    case S::kDelete:
      return fmt::format("delete {};", text_of(*s.value));
    case S::kNext:
      return "next;";
    case S::kBreak:
      return "break;";
    case S::kContinue:
      return "continue;";
    case S::kTry:
      return fmt::format("try {} catch {}{}", text_of(*s.body[0]),
                         s.init == nullptr ? "" : "(" + s.init->text + ") ", text_of(*s.body[1]));
    case S::kEmbedded:
      return "%{ %}";
  }
  return "";
}

std::string text_of(const ProbePoint& point) {
  std::string result;
  for (const ProbePoint::Part& part : point.parts) {
    result += (result.empty() ? "" : ".") + part.name;
    if (part.text) result += "(" + quoted(*part.text) + ")";
    if (part.number) result += fmt::format("({})", *part.number);
  }
  if (point.is_optional) result += point.is_sufficient ? "!" : "?";
  if (point.condition != nullptr) result += fmt::format(" if ({})", text_of(*point.condition));
  return result;
}

std::string text_of(const File& file) {
  std::string result;
  for (const auto& g : file.globals)
    result += fmt::format("{} {}\n", g->is_private ? "private" : "global", variable_text(*g));
  for (const auto& f : file.functions) result += function_text(*f);
  for (const Alias& a : file.aliases) {
    const std::string end = a.epilogue == nullptr ? "" : ", " + text_of(*a.epilogue);
    result += fmt::format("probe {} {} {} {}{}\n", points_text(a.names, " = "), a.is_epilogue ? "+=" : "=",
                          points_text(a.points, ", "), text_of(*a.body), end);
  }
  for (const Probe& p : file.probes)
    result += fmt::format("probe {} {}\n", points_text(p.points, ", "), text_of(*p.body));
  return result;
}

}  // namespace blip::stap
