// SPDX-License-Identifier: MIT
// $var->m[i], @cast, @var, and texts made of whole structures.
#include <fmt/core.h>

#include <algorithm>

#include "script/types/members.h"
#include "stap/body.h"

namespace blip::stap {

using Kind = Expression::Kind;
using script::Operand;
using script::TypeKind;
using Value = script::Value;

namespace {

constexpr size_t kMostShown = 24;       // values of one text
constexpr uint32_t kTextShown = 64;     // bytes of a text in a structure
constexpr uint64_t kElementsShown = 8;  // of an array in a structure

// "struct foo", "foo*" and "const char *" as well as <header.h> and others.
std::optional<script::TypeName> type_name(std::string_view text) { return script::type_name_of(text); }

bool is_character_array(const script::Type& type) {
  return type.kind == TypeKind::kArray && type.target != nullptr && script::resolve(*type.target).size == 1;
}

}  // namespace

Status Body::needs_place(const Expression& e) const {
  if (names_ != nullptr) return {};
  return error_at(e.spot, fmt::format("{} has no meaning here: the probe is at no place of a program",
                                      e.text.empty() ? "this" : e.text));
}

Result<Operand> Body::target_base(Expression& e) {
  TRY_OK(needs_place(e));
  const auto place = [&](Result<Operand> found) -> Result<Operand> {
    if (found) return found;
    return error_at(e.spot, found.error().message());
  };
  if (e.kind == Kind::kTarget) {
    const std::string name = e.text.substr(1);
    if (name == "return") return place(names_->returned());
    if (name.starts_with("arg") && !names_->scopes().scope->argument_names().empty())
      return place(names_->reg(name));
    return place(names_->variable(name, {}, is_return()));
  }
  if (e.kind == Kind::kVar) {
    const size_t at_sign = e.format.find('@');
    const std::string name = e.format.substr(0, at_sign);
    std::string where = at_sign == std::string::npos ? e.module : e.format.substr(at_sign + 1);
    where = where.substr(where.rfind('/') + 1);
    return place(names_->variable(name, where));
  }
  Expression& of = *e.operands[0];
  if (e.kind == Kind::kAutocast) {
    if (of.kind == Kind::kTarget || of.kind == Kind::kCast || of.kind == Kind::kVar ||
        of.kind == Kind::kAutocast)
      return operand(of);
    const auto known = of.kind == Kind::kName ? frame().types.find(of.variable) : frame().types.end();
    if (known == frame().types.end())
      return error_at(e.spot, "the type of this is not known: use @cast(..., \"struct ...\")");
    TRY(const Value v, value(of));
    if (v.where != Value::Where::kPool)
      return error_at(
          of.spot,
          "this address is known only to blip, after the hit: what lies there cannot be read at the hit");
    return names_->given(v.node, *known->second);
  }
  TRY(const Value v, value(of));
  if (v.where != Value::Where::kPool)
    return error_at(
        of.spot,
        "this address is known only to blip, after the hit: what lies there cannot be read at the hit");
  const auto name = type_name(e.format);
  if (!name) return error_at(e.spot, fmt::format("\"{}\" is no type", e.format));
  const auto type = names_->type(*name);
  if (!type) return error_at(e.spot, type.error().message());
  const script::Type& found = script::resolve(**type);
  const bool is_whole =
      found.kind == TypeKind::kStruct || found.kind == TypeKind::kUnion || found.kind == TypeKind::kArray;
  return names_->given(v.node, is_whole ? names_->pointer_to(**type) : **type);
}

Result<Operand> Body::with_components(Expression& e, Operand base) {
  for (const Component& c : e.components) {
    if (c.kind == Component::Kind::kPretty) break;
    if (c.kind == Component::Kind::kMember) {
      auto member = names_->member(base, c.text);
      if (!member) return error_at(c.spot, member.error().message());
      base = *std::move(member);
      continue;
    }
    TRY(const Value index, value(*c.index));
    if (index.where != Value::Where::kPool)
      return error_at(
          c.spot,
          "this index is known only to blip, after the hit: what lies there cannot be read at the hit");
    auto element = names_->element(base, names_->given(index.node, script::int_type(8, true)));
    if (!element) return error_at(c.spot, element.error().message());
    base = *std::move(element);
  }
  return base;
}

Result<Operand> Body::operand(Expression& e) {
  TRY(Operand base, target_base(e));
  TRY(Operand whole, with_components(e, std::move(base)));
  if (!e.is_address) return whole;
  auto address = names_->address(whole);
  if (!address) return error_at(e.spot, address.error().message());
  return *std::move(address);
}

Result<Value> Body::target(Expression& e) {
  if (e.kind == Kind::kDeref) {
    TRY_OK(needs_place(e));
    TRY(const Value at, value(*e.operands[0]));
    const bool is_size = e.number == 1 || e.number == 2 || e.number == 4 || e.number == 8;
    if (!is_size || at.where != Value::Where::kPool)
      return error_at(e.spot, "@uderef() reads 1, 2, 4 or 8 bytes at an address of the hit");
    return f_.pool_value(f_.pool().load(at.node, e.number));
  }
  if (e.kind == Kind::kTarget && e.text.starts_with("$$")) return all_variables(e);
  if (e.type == Type::kString) return pretty(e);
  TRY(const Operand of, operand(e));
  const auto node = names_->number(of);
  if (!node) return error_at(e.spot, node.error().message());
  return f_.pool_value(*node);
}

// $$vars, $$parms, $$locals, $$return: "a=1 b=0x10", with a $ structures too.
Result<Value> Body::all_variables(Expression& e) {
  TRY_OK(needs_place(e));
  const std::string name = e.text.substr(2);
  const bool is_deep = !e.components.empty();
  std::vector<std::pair<std::string, Result<Operand>>> all;
  if (name == "return") {
    if (is_return()) all.emplace_back("return", names_->returned());
  } else if (name == "vars" || name == "parms" || name == "locals") {
    script::Scope* scope = is_return() ? names_->scopes().entry : names_->scopes().scope;
    std::vector<script::Variable> variables;
    if (scope != nullptr && name != "locals") variables = scope->parameters();
    if (scope != nullptr && name != "parms" && !is_return())
      for (script::Variable& v : scope->locals()) variables.push_back(std::move(v));
    for (const script::Variable& v : variables)
      all.emplace_back(v.name, names_->variable(v.name, {}, is_return()));
  } else {
    return error_at(e.spot, fmt::format("there are $$vars, $$parms, $$locals and $$return, no {}", e.text));
  }
  std::string format;
  Values values;
  for (const auto& [variable, of] : all) {
    format += (format.empty() ? "" : " ") + variable + "=";
    if (is_deep && of && values.size() < kMostShown) {
      add_pretty(*of, static_cast<unsigned>(e.components[0].text.size()), format, values);
      continue;
    }
    const auto node = of ? names_->number(*of) : Result<uint32_t>(of.error());
    if (!node || values.size() >= kMostShown) {
      format += "?";
      continue;
    }
    format += "%#x";
    values.push_back(f_.or_default(f_.pool_value(*node), number(0)));
  }
  return f_.sprint(f_.format(format, values), values);
}

Result<Value> Body::pretty(Expression& e) {
  TRY(const Operand of, operand(e));
  std::string format;
  Values values;
  add_pretty(of, static_cast<unsigned>(e.components.back().text.size()), format, values);
  return f_.sprint(f_.format(format, values), values);
}

// `depth`: how many levels of structures are shown.
void Body::add_pretty(const Operand& o, unsigned depth, std::string& format, Values& values) {
  const script::Type& type = o.type == nullptr ? script::int_type(8, false) : script::resolve(*o.type);
  if (values.size() >= kMostShown) {
    format += "...";
    return;
  }
  if (type.kind == TypeKind::kStruct || type.kind == TypeKind::kUnion) {
    format += "{";
    if (depth == 0) format += "...";
    for (size_t i = 0; depth > 0 && i < type.members.size(); ++i) {
      const script::Member& m = type.members[i];
      if (i > 0) format += ", ";
      const auto member = m.name.empty() ? Result<Operand>(script::refusal("")) : names_->member(o, m.name);
      if (!m.name.empty()) format += "." + m.name + "=";
      if (member)
        add_pretty(*member, depth - 1, format, values);
      else
        format += "{...}";
    }
    format += "}";
    return;
  }
  const bool is_text =
      is_character_array(type) || (type.kind == TypeKind::kPointer && type.target != nullptr &&
                                   script::resolve(*type.target).kind == TypeKind::kChar);
  if (is_text) {
    const auto characters = names_->characters(o);
    if (characters) {
      const uint64_t most =
          characters->most == 0 ? kTextShown : std::min<uint64_t>(characters->most, kTextShown);
      format += "\"%s\"";
      values.push_back(
          f_.or_default(f_.read_text(f_.pool_value(characters->address), static_cast<uint32_t>(most)),
                        f_.text("<unknown>")));
      return;
    }
  }
  if (type.kind == TypeKind::kArray) {
    const uint64_t count = std::min(type.count.value_or(0), kElementsShown);
    format += "[";
    for (uint64_t i = 0; i < count; ++i) {
      const auto element =
          names_->element(o, names_->given(f_.pool().constant(i), script::int_type(8, true)));
      if (i > 0) format += ", ";
      if (element) add_pretty(*element, depth == 0 ? 0 : depth - 1, format, values);
    }
    format += type.count.value_or(0) > count ? ", ...]" : "]";
    return;
  }
  const auto node = names_->number(o);
  if (!node) {
    format += "?";
    return;
  }
  const bool is_pointer = type.kind == TypeKind::kPointer || type.kind == TypeKind::kReference;
  format += is_pointer ? "%p" : type.is_signed || type.kind == TypeKind::kEnum ? "%i" : "%u";
  values.push_back(f_.or_default(f_.pool_value(*node), number(0)));
}

}  // namespace blip::stap
