// SPDX-License-Identifier: MIT
// Members, elements, addresses and texts of the target.
#include <fmt/core.h>

#include <algorithm>

#include "bt/lower.h"
#include "script/types/members.h"

namespace blip::bt {

namespace {

using script::Operand;
using script::TypeKind;

constexpr unsigned kDeepestShown = 4;
constexpr uint64_t kMostElements = 64;
constexpr size_t kMostLeaves = 44;  // of one value: 48 can be captured

constexpr const char* kNoTarget =
    "this probe has no target to read from: only uprobe, uretprobe, usdt and profile have one";

bool is_characters(const script::Type& array) {
  const script::Type& of = script::resolve(*array.target);
  return of.size == 1 && (of.kind == TypeKind::kChar || (of.kind == TypeKind::kInt && of.is_signed));
}

}  // namespace

const script::Type* Lowerer::c_type(std::string_view name) {
  if (const script::Type* found = script_.types.find(name)) return found;
  return names_ ? names_->find_type(name) : nullptr;
}

Result<const script::Type*> Lowerer::c_type(const TypeName& name) {
  const script::Type* type = c_type(name.name);
  if (!type) {
    const std::string missing = names_ ? names_->scopes().scope->what_is_missing() : "";
    return at(name.range,
              fmt::format("there is no type '{}'{}{}", name.name, missing.empty() ? "" : ": ", missing));
  }
  size_t next_size = 0;
  for (const char suffix : name.suffixes)
    type = suffix == '*' ? &script_.types.pointer_to(*type)
                         : &script_.types.array_of(*type, name.sizes[next_size++]);
  return type;
}

Result<Type> Lowerer::type_of(const TypeName& name) {
  if (name.of) {
    TRY(const Typed v, value(*name.of));
    return v.type;
  }
  if (name.name == "string" || name.name == "buffer") {
    Type type = of_kind(name.name == "string" ? Kind::kText : Kind::kBuffer);
    return type;
  }
  const bool is_plain = name.suffixes.empty();
  const script::Type* known = c_type(name.name);
  if (!known && !is_place_known() && has_hit_) {
    // The program's own type: it is known at the place.
    if (name.suffixes.ends_with('*')) return of_kind(Kind::kPointer);
    return of_kind(Kind::kUnknown);
  }
  TRY(const script::Type* type, c_type(name));
  if (is_plain && script::resolve(*type).kind == TypeKind::kArray)
    return at(name.range, "arrays are not cast to");
  return from_target(*type);
}

Result<Typed> Lowerer::from_operand(const Expr& e, const Operand& operand) {
  if (operand.kind == Operand::Kind::kOptimizedOut) {
    auto none = names_->access().bits(operand);
    return none ? at(e, "its place is not known") : place(e, none.error());
  }
  Typed result{.type = from_target(*operand.type), .operand = operand};
  if (result.type.kind == Kind::kTarget) {
    const script::Type& type = script::resolve(*operand.type);
    if (type.kind == TypeKind::kArray && type.target && is_characters(type)) return result;
    if (operand.kind == Operand::Kind::kMemory) result.leaves = {f_.pool_value(operand.node)};
    if (type.kind == TypeKind::kFloat) return at(e, "floating point numbers are not shown by this language");
    return result;
  }
  if (result.type.kind == Kind::kNothing) return at(e, "a void has no value");
  auto node = names_->number(operand);
  if (!node) return place(e, node.error());
  result.leaves = {f_.pool_value(*node)};
  return result;
}

// A pointer that a variable holds, or an address that was computed, can be followed if it is known at the hit.
Result<Operand> Lowerer::as_operand(const Expr& e, const Typed& v) {
  if (!names_) return at(e, kNoTarget);
  if (v.operand) return *v.operand;
  if (v.type.kind == Kind::kTarget || v.type.kind == Kind::kPointer || v.type.kind == Kind::kInteger) {
    if (v.value().where != Value::Where::kPool)
      return at(e,
                "this address is known only to blip, after the hit, when it is too late to read there: keep "
                "what is there, such as "
                "str(arg0), in place of the address");
    if (v.type.kind == Kind::kTarget) return names_->access().memory(v.value().node, *v.type.target);
    if (v.type.kind == Kind::kPointer && v.type.target)
      return names_->given(v.value().node, names_->pointer_to(*v.type.target));
    return names_->given(v.value().node, script::int_type(8, v.type.is_signed));
  }
  return at(e, fmt::format("{} does not lie in the target", to_string(v.type)));
}

Result<Typed> Lowerer::field(const Expr& e) {
  const Expr& of = *e.operands[0];
  if (of.kind == Expr::Kind::kName && of.text == "args") {
    if (!has_hit_) return at(of, "args are those of a function: this probe has none");
    if (!names_) return unknown();
    const bool is_return = names_->scopes().is_return;
    auto operand = names_->variable(e.text, {}, is_return);
    if (!operand) return place(e, operand.error());
    return from_operand(e, *operand);
  }
  TRY(const Typed whole_of_it, value(of));
  if (whole_of_it.type.is_unknown()) return unknown();
  if (whole_of_it.type.kind == Kind::kRecord) {
    size_t first = 0;
    for (const Field& f : whole_of_it.type.fields) {
      const size_t count = count_leaves(f.type);
      if (f.name == e.text) {
        Typed result{.type = f.type};
        for (size_t i = 0; i < count; ++i) result.leaves.push_back(whole_of_it.leaves[first + i]);
        return result;
      }
      first += count;
    }
    return at(e, fmt::format("the record has no member '{}'", e.text));
  }
  if (!names_ && has_hit_) return unknown();
  if (whole_of_it.type.kind != Kind::kPointer && whole_of_it.type.kind != Kind::kTarget)
    return at(e, fmt::format("{} has no members", to_string(whole_of_it.type)));
  if (!whole_of_it.type.target && !whole_of_it.operand)
    return at(e, "what it points to is not known: cast it");
  if (only_size_ && !names_) {
    const auto found = script::find_member(script::resolve(*whole_of_it.type.target), e.text);
    if (!found) return at(e, fmt::format("there is no member '{}'", e.text));
    return Typed{.type = from_target(*found->member->type)};
  }
  TRY(const Operand operand, as_operand(e, whole_of_it));
  auto member = names_->member(operand, e.text);
  if (!member) return place(e, member.error());
  return from_operand(e, *member);
}

Result<Typed> Lowerer::index(const Expr& e) {
  TRY(Typed array, value(*e.operands[0]));
  if (has_effects(*e.operands[1])) keep(array);
  TRY(const Value n, number(*e.operands[1]));
  if (array.type.is_unknown()) return unknown();
  if (array.type.kind == Kind::kTuple) {
    Expr item{.kind = Expr::Kind::kItem, .range = e.range, .number = f_.constant_of(n).value_or(UINT64_MAX)};
    item.operands.push_back(copy(*e.operands[0]));
    return this->item(item);
  }
  if (array.type.kind == Kind::kArray) {
    const auto constant = f_.constant_of(n);
    if (!constant || *constant >= array.type.fields.size()) return at(e, "there is no such element");
    const Type of = array.type.fields[*constant].type;
    const size_t count = count_leaves(of);
    Typed result{.type = of};
    for (size_t i = 0; i < count; ++i) result.leaves.push_back(array.leaves[*constant * count + i]);
    return result;
  }
  if (!names_ && has_hit_) return unknown();
  if (array.type.kind != Kind::kPointer && array.type.kind != Kind::kTarget)
    return at(e, fmt::format("{} has no elements", to_string(array.type)));
  if (n.where != Value::Where::kPool)
    return at(*e.operands[1],
              "this index is known only to blip, after the hit: what lies there cannot be read at the hit");
  TRY(const Operand operand, as_operand(e, array));
  auto element = names_->element(operand, names_->given(n.node, script::int_type(8, true)));
  if (!element) return place(e, element.error());
  return from_operand(e, *element);
}

Result<Typed> Lowerer::dereference(const Expr& e, const Typed& pointer) {
  if (pointer.type.is_unknown()) return unknown();
  if (!names_ && has_hit_) {
    if (pointer.type.kind == Kind::kPointer && pointer.type.target) {
      Typed result{.type = from_target(*pointer.type.target), .leaves = {f_.constant(0)}};
      return result;
    }
    return unknown();
  }
  if (pointer.type.kind == Kind::kInteger) {  // 8 bytes
    TRY(const Operand operand, as_operand(e, pointer));
    auto cast = names_->cast(operand, names_->pointer_to(script::int_type(8, true)));
    if (!cast) return place(e, cast.error());
    auto found = names_->dereference(*cast);
    if (!found) return place(e, found.error());
    return from_operand(e, *found);
  }
  if (pointer.type.kind != Kind::kPointer)
    return at(e, fmt::format("{} is no pointer", to_string(pointer.type)));
  if (!pointer.type.target && !pointer.operand) return at(e, "what it points to is not known: cast it");
  if (only_size_ && !names_) return Typed{.type = from_target(*pointer.type.target)};
  TRY(const Operand operand, as_operand(e, pointer));
  auto found = names_->dereference(operand);
  if (!found) return place(e, found.error());
  return from_operand(e, *found);
}

Result<Typed> Lowerer::whole(const Expr& e, Typed v) {
  if (v.type.kind != Kind::kTarget) return v;
  if (!names_) return has_hit_ ? unknown() : Result<Typed>(at(e, kNoTarget));
  TRY(const Operand operand, as_operand(e, v));
  TRY(Typed result, whole_of(e, operand, 0));
  if (result.leaves.size() > kMostLeaves)
    return at(e, fmt::format("this has {} values, and {} can be recorded at a hit: use its members",
                             result.leaves.size(), kMostLeaves));
  return result;
}

Result<Typed> Lowerer::whole_of(const Expr& e, const Operand& operand, unsigned depth) {
  const script::Type& type = script::resolve(*operand.type);
  Typed result;
  if (type.kind == TypeKind::kArray && type.target) {
    if (is_characters(type)) {
      auto found = names_->characters(operand);
      if (!found) return place(e, found.error());
      const auto most = static_cast<uint32_t>(
          std::min<uint64_t>(std::max<uint64_t>(1, found->most), script_.config.max_strlen));
      return of_text(f_.read_text(f_.pool_value(found->address), most));
    }
    result.type = of_kind(Kind::kArray);
    const uint64_t count = type.count.value_or(0);
    if (count > kMostElements)
      return at(e, fmt::format("arrays of up to {} elements are shown", kMostElements));
    for (uint64_t i = 0; i < count; ++i) {
      auto element =
          names_->element(operand, names_->given(f_.pool().constant(i), script::int_type(8, true)));
      if (!element) return place(e, element.error());
      TRY(const Typed part, whole_of(e, *element, depth + 1));
      result.type.fields.push_back({fmt::format("{}", i), part.type});
      result.leaves.insert(result.leaves.end(), part.leaves.begin(), part.leaves.end());
    }
    return result;
  }
  if (!script::is_aggregate(type) || depth >= kDeepestShown) {
    if (script::is_aggregate(type)) return at(e, "structures are shown a few levels deep: use its members");
    return from_operand(e, operand);
  }
  result.type = of_kind(Kind::kRecord);
  for (const script::FoundMember& found : script::members_of(type)) {
    TRY(const Typed part, whole_of(e, names_->access().member(operand, found), depth + 1));
    result.type.fields.push_back({found.member->name, part.type});
    result.leaves.insert(result.leaves.end(), part.leaves.begin(), part.leaves.end());
    if (result.leaves.size() > kMostLeaves) break;
  }
  return result;
}

// All parameters, as a record.
Result<Typed> Lowerer::arguments(const Expr& e) {
  if (!has_hit_) return at(e, "args are those of a function: this probe has none");
  if (!names_) return unknown();
  const bool is_return = names_->scopes().is_return;
  script::Scope* scope = is_return ? names_->scopes().entry : names_->scopes().scope;
  Typed result{.type = of_kind(Kind::kRecord)};
  if (!scope) return at(e, "the arguments are not known here");
  for (const script::Variable& v : scope->parameters()) {
    auto operand = names_->variable(v.name, {}, is_return);
    if (!operand) return place(e, operand.error());
    TRY(const Typed part, whole_of(e, *operand, 1));
    result.type.fields.push_back({v.name, part.type});
    result.leaves.insert(result.leaves.end(), part.leaves.begin(), part.leaves.end());
  }
  return result;
}

Result<Typed> Lowerer::argument(const Expr& e, unsigned n) {
  if (!has_hit_) return at(e, "this probe has no arguments");
  if (!names_)
    return of_number(f_.pool_value(f_.pool().add({.op = Op::kRegister, .value = 7})), integer(8, true));
  if (names_->scopes().is_return)
    return at(e, "arguments are gone when a function returns: use args.NAME, which is kept from its call");
  auto operand = names_->argument(n);
  if (!operand) return place(e, operand.error());
  TRY(Typed v, from_operand(e, *operand));
  v.operand.reset();
  // bpftrace has them as numbers of 64 bits; what the author of a mark says about size and sign stays.
  if (v.type.kind == Kind::kInteger || v.type.kind == Kind::kPointer) {
    const bool is_mark = !names_->scopes().scope->argument_names().empty();
    v.type = is_mark && v.type.kind == Kind::kInteger ? v.type : integer(8, true);
  }
  return v;
}

Result<Typed> Lowerer::returned(const Expr& e) {
  if (!has_hit_ || probe_.kind != script::WantedProbe::Kind::kReturn)
    return at(e, "retval is only at uretprobe");
  if (!names_) return of_number(f_.pool_value(f_.pool().add({.op = Op::kResult})), integer());
  auto operand = names_->return_word();
  if (!operand) return place(e, operand.error());
  TRY(Typed v, from_operand(e, *operand));
  v.operand.reset();
  v.type = integer();
  return v;
}

// The text at an address that the target has, or a text that is one already.
Result<script::Value> Lowerer::read_text(const Expr& e, const Typed& from, uint32_t most) {
  if (from.type.is_text() || from.type.kind == Kind::kBuffer)
    return f_.apply("substring", {from.value(), f_.constant(0), f_.constant(most)});
  if (from.type.is_unknown() || (!names_ && has_hit_))
    return f_.keep(f_.apply("substring", {f_.text(""), f_.constant(0), f_.constant(most)}));
  if (from.has_value() && from.type.is_number() && f_.constant_of(from.value()) == 0U) return f_.text("");
  TRY(const Operand operand, as_operand(e, from));
  auto found = names_->characters(operand);
  if (!found) return place(e, found.error());
  if (found->most != 0) most = static_cast<uint32_t>(std::min<uint64_t>(most, found->most));
  return f_.read_text(f_.pool_value(found->address), std::max(1U, most));
}

}  // namespace blip::bt
