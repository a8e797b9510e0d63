// SPDX-License-Identifier: MIT
#include "script/names.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "machine/registers.h"
#include "script/convention/sysv_abi.h"
#include "script/types/diagnostics.h"
#include "script/types/members.h"

namespace blip::script {

namespace {

const Type& unsigned_long() { return int_type(8, false); }

struct ReturnName {
  std::string_view name;
  Op op;
};
constexpr ReturnName kOfReturns[] = {{"ret", Op::kResult},
                                     {"latency_ns", Op::kLatency},
                                     {"latency", Op::kLatency},
                                     {"depth", Op::kDepth},
                                     {"tail", Op::kTail}};

// True if only the code around the site knows the place: it is a register, or lies in the frame.
bool is_of_frame(const Place& place) {
  const auto is_state = [](const Node& n) {
    return n.op == Op::kRegister || n.op == Op::kVector || n.op == Op::kVectorHigh || n.op == Op::kFlags ||
           n.op == Op::kLoadNear;
  };
  return std::any_of(place.code.nodes.begin(), place.code.nodes.end(), is_state) ||
         std::any_of(place.pieces.begin(), place.pieces.end(),
                     [](const Place::Piece& piece) { return is_of_frame(piece.place); });
}

// The number after the prefix, one digit.
std::optional<unsigned> numbered(std::string_view name, std::string_view prefix, unsigned count) {
  if (name.size() != prefix.size() + 1 || !name.starts_with(prefix)) return std::nullopt;
  const unsigned n = static_cast<unsigned char>(name.back()) - unsigned{'0'};
  return n < count ? std::optional(n) : std::nullopt;
}

}  // namespace

bool is_of_returns(std::string_view name) {
  return name == "return" || std::any_of(std::begin(kOfReturns), std::end(kOfReturns),
                                         [&](const ReturnName& known) { return known.name == name; });
}

Operand Names::leaf(Op op, const Type& type, uint64_t value) {
  return access_.value(access_.builder().add({.op = op, .value = value}), type);
}

std::optional<Operand> Names::of_return(std::string_view name) {
  for (const ReturnName& known : kOfReturns)
    if (known.name == name) return leaf(known.op, unsigned_long());
  return std::nullopt;
}

std::optional<Operand> Names::by_convention(std::string_view name) {
  constexpr std::array<uint64_t, 6> kIntegers = {7, 6, 2, 1, 8, 9};  // rdi rsi rdx rcx r8 r9
  if (const auto n = numbered(name, "arg", kIntegers.size()))
    return leaf(Op::kRegister, unsigned_long(), kIntegers[*n]);
  if (const auto n = numbered(name, "farg", 8)) return leaf(Op::kVector, *builtin_type("double"), *n);
  return std::nullopt;
}

// A member of the object whose function this is.
std::optional<Operand> Names::of_this(std::string_view name) {
  const auto self = site_.scope->find("this");
  if (!self || !self->type || site_.is_return) return std::nullopt;
  const auto object = access_.dereference(access_.variable(*self));
  if (!object || !find_member(*object->type, name)) return std::nullopt;
  auto member = access_.member(*object, name);
  return member ? std::optional(*std::move(member)) : std::nullopt;
}

// At a return only what does not depend on the function's own frame is still there.
Result<Operand> Names::found(const Variable& variable) {
  const bool is_gone = variable.is_parameter || is_of_frame(variable.place);
  if (site_.is_return && is_gone)
    return refusal(
        fmt::format("arguments and locals are gone when a function returns: use entry({})", variable.name));
  return access_.variable(variable);
}

Result<Operand> Names::variable(std::string_view where, std::string_view name) {
  Scope& scope = *site_.scope;
  if (!where.empty()) {
    if (const auto found = scope.find_in(where, name)) return access_.variable(*found);
    return refusal(fmt::format("there is no variable '{}' in '{}'", name, where));
  }
  const auto special = of_return(name);
  const bool is_the_programs = name == "latency" && scope.find(name);  // the short name came later
  if (special && site_.is_return && !is_the_programs) return *special;
  if (const auto variable = scope.find(name)) return found(*variable);
  if (const size_t colons = name.find("::"); colons != std::string_view::npos)
    if (const auto found = scope.find_in(name.substr(0, colons), name.substr(colons + 2)))
      return access_.variable(*found);
  if (const auto member = of_this(name)) return *member;
  if (const auto found = by_convention(name)) {
    if (const std::string names = scope.argument_names(); !names.empty())
      return refusal(fmt::format("there is no '{}' here: {}", name, names));
    if (site_.is_return)
      return refusal(fmt::format("arguments are gone when a function returns: use entry({})", name));
    return *found;
  }
  if (name == "true" || name == "false")
    return access_.value(access_.builder().constant(name == "true"), *builtin_type("bool"));
  if (name == "NULL" || name == "nullptr")
    return access_.value(access_.builder().constant(0), access_.types().pointer_to(*builtin_type("void")));
  if (special)
    return refusal(fmt::format("'{}' is known only where a function returns: with --return", name));
  return unknown(name);
}

Error Names::unknown(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& variables : {site_.scope->parameters(), site_.scope->locals()})
    for (const Variable& v : variables) names.push_back(v.name);
  std::string message = fmt::format("there is no variable '{}' here", name);
  if (const auto files = site_.scope->files_with(name); !files.empty())
    return refusal(fmt::format("{}, but {} {} one: say {}::{}", message, list_names(files, name),
                               files.size() == 1 ? "has" : "have", files[0], name));
  if (const std::string own = site_.scope->argument_names(); !own.empty())
    return refusal(fmt::format("{}: {}", message, own));
  if (const std::string missing = site_.scope->what_is_missing(); !missing.empty())
    message += fmt::format(
        ": {}; without it there are {}, registers ($rax), casts like *(int *)$rdi", missing,
        site_.is_return ? "ret, latency_ns, depth, tail, entry(arg0)" : "arg0 to arg5, farg0 to farg7");
  else if (site_.is_return)
    message +=
        fmt::format(": visible are $return, ret, latency_ns, depth, tail{}{}",
                    names.empty() ? "" : ", and at the entry, by entry(...), ", list_names(names, name));
  else if (!names.empty())
    message += fmt::format(": visible are {}", list_names(std::move(names), name));
  return refusal(std::move(message));
}

Result<Operand> Names::returned() {
  if (!site_.is_return) return refusal("'$return' is known only where a function returns: with --return");
  const Type* type = site_.scope->result_type();
  if (!type || resolve(*type).kind == TypeKind::kUnknown) {
    const Operand word = leaf(Op::kResult, unsigned_long());
    return access_.value(access_.builder().add(Op::kReturned, word.node), unsigned_long());
  }
  if (resolve(*type).kind == TypeKind::kVoid) return refusal(std::string(kReturnsNothing));
  const auto passing =
      is_aggregate(resolve(*type)) ? AbiValue::Passing::kNotKnown : AbiValue::Passing::kByValue;
  const auto told = site_.scope->result_place();
  Operand result = access_.at_place(*type, told ? *told : result_place({.type = type, .passing = passing}));
  // A call that ends with a jump to another function has none.
  const auto mark = [&](Operand& part) {
    if (part.node != kNone) part.node = access_.builder().add(Op::kReturned, part.node);
  };
  mark(result);
  for (Operand::Piece& piece : result.pieces) mark(piece.part);
  return result;
}

Result<Operand> Names::reg(std::string_view name) {
  if (name == "return") return returned();
  if (const auto special = of_return(name)) {
    if (site_.is_return) return *special;
    return refusal(fmt::format("'${}' is known only where a function returns: with --return", name));
  }
  const bool has_own_arguments = !site_.scope->argument_names().empty();
  if (by_convention(name) || (has_own_arguments && name.starts_with("arg"))) return variable({}, name);
  const machine::RegisterSet& registers = machine::host().registers;
  if (name == registers.flags || name == "eflags") return leaf(Op::kFlags, unsigned_long());
  if (name == registers.thread_pointer) return leaf(Op::kThreadPointer, unsigned_long());
  if (const auto n = machine::find_vector_register(registers, name))
    return leaf(Op::kVector, *builtin_type("double"), *n);
  const auto found = machine::find_register(registers, name);
  if (!found)
    return refusal(fmt::format(
        "there is no register '{}': use $rax, $rbx ..., $r15, $eax ..., $rflags, $xmm0 ... $xmm15, "
        "$return",
        name));
  const Operand whole = leaf(Op::kRegister, unsigned_long(), found->number);
  Builder& b = access_.builder();
  const uint32_t from = b.add(Op::kShr, whole.node, b.constant(found->shift));
  return access_.value(b.extend(from, found->size, false), int_type(found->size, false));
}

Result<const Type*> Names::type(const TypeName& name) {
  const Type* type = name.is_builtin ? builtin_type(name.base) : site_.scope->find_type(name.base);
  if (!type) type = builtin_type(name.base);
  if (!type) {
    const std::string missing = site_.scope->what_is_missing();
    return refusal(fmt::format("there is no type '{}'{}{}", name.base, missing.empty() ? "" : ": ", missing));
  }
  for (unsigned i = 0; i < name.pointers; ++i) type = &access_.types().pointer_to(*type);
  return type;
}

bool Names::is_type(std::string_view name) {
  if (site_.scope->find(name)) return false;
  return builtin_type(name) || site_.scope->find_type(name);
}

}  // namespace blip::script
