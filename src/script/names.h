// SPDX-License-Identifier: MIT
// Finds what names, registers and types of an expression mean at a site. Errors are refusals.
#pragma once

#include "script/expression.h"
#include "script/types/scope.h"
#include "script/values/access.h"

namespace blip::script {

// The refusal of $return that depends on the function and not on what the user wrote.
inline constexpr std::string_view kReturnsNothing = "the function returns nothing";

// ret, return, latency_ns, depth, tail: with a $ before it or not.
bool is_of_returns(std::string_view name);

// The meaning of names in a program at the place where it runs.
struct HitScopes {
  Scope* scope = nullptr;
  bool is_return = false;
  // For returns: the meaning of names at the entry, for entry(x). Null if entry(x) is not available.
  Scope* entry = nullptr;
  bool has_fields = false;  // of returns: events have ret, latency_ns, depth and tail anyway
};

class Names {
 public:
  Names(Access& access, const HitScopes& site) : access_(access), site_(site) {}

  Result<Operand> variable(std::string_view where, std::string_view name);
  Result<Operand> reg(std::string_view name);  // "rax", "return"
  Result<const Type*> type(const TypeName& name);
  bool is_type(std::string_view name);
  const Type* find_type(std::string_view name) { return site_.scope->find_type(name); }

 private:
  std::optional<Operand> of_return(std::string_view name);
  std::optional<Operand> by_convention(std::string_view name);
  std::optional<Operand> of_this(std::string_view name);
  Result<Operand> returned();
  Result<Operand> found(const Variable& variable);
  Operand leaf(Op op, const Type& type, uint64_t value = 0);
  Error unknown(std::string_view name);

  Access& access_;
  const HitScopes& site_;
};

}  // namespace blip::script
