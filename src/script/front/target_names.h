// SPDX-License-Identifier: MIT
// What names mean at a place of the target, for handlers that are being built: from words of a script to operands, whose nodes
// are in the handler's pool (FunctionBuilder), and from operands to values. It is the checker of --capture (script/checker.h):
// members, elements, containers, casts and constants are what they are there.
//
//     TRY(Operand p, names.variable("req"));  TRY(p, names.member(p, "headers"));  TRY(Value v, names.number(p));
//
// Errors are refusals, which the front end places in its source, unless they have a place.
#pragma once

#include <deque>
#include <string_view>

#include "script/checker.h"
#include "script/front/function_builder.h"
#include "script/front/script.h"

namespace blip::script {

class TargetNames {
 public:
  // `pool` is that of the handler. The types that `scopes` hand out must live as long as operands do.
  TargetNames(Builder& pool, const HitScopes& scopes);
  TargetNames(const TargetNames&) = delete;
  TargetNames& operator=(const TargetNames&) = delete;

  // Any expression of the checker's; kGiven are `given`.
  Result<Operand> look(const Expression& e, std::span<const Operand> given = {});

  // A variable of the program; `where` is a module or file, or empty. Of returns: at the entry, if `at_entry`.
  Result<Operand> variable(std::string_view name, std::string_view where = {}, bool at_entry = false);
  Result<Operand> reg(std::string_view name);  // "rax", "di", "return": see Names::reg()
  Result<Operand> argument(unsigned n);  // arg0, arg1 ... by the calling convention; of marks, from 0 on
  Result<Operand> returned();            // $return, with the function's type
  Result<Operand> return_word();         // its 64 bits
  Result<Operand> member(const Operand& whole, std::string_view name);  // a.b and p->b alike
  Result<Operand> element(const Operand& array, const Operand& index);
  Result<Operand> dereference(const Operand& pointer);
  Result<Operand> address(const Operand& of);
  Result<Operand> cast(const Operand& operand, const TypeName& type);
  Result<Operand> cast(const Operand& operand, const Type& type);
  Result<Operand> size(const Operand& operand);
  Result<const Type*> type(const TypeName& name) { return checker_.names().type(name); }
  const Type* find_type(std::string_view name) { return scopes_.scope->find_type(name); }
  const Type& pointer_to(const Type& type) { return types_.pointer_to(type); }

  // A number of the pool as an operand, to count elements with, or a pointer that was kept.
  Operand given(uint32_t node, const Type& type) { return checker_.access().value(node, type); }
  // The number or address that an operand is, extended by its type.
  Result<uint32_t> number(const Operand& operand) { return checker_.access().number(operand); }
  Result<uint32_t> truth(const Operand& operand);
  // Where its characters are: of char *, char[], and the texts of standard libraries the first one and how many there are (kNone:
  // up to the 0).
  struct Characters {
    uint32_t address = kNone, length = kNone;
    uint64_t most = 0;  // of an array; 0: not known
  };
  Result<Characters> characters(const Operand& operand);

  const HitScopes& scopes() const { return scopes_; }
  Builder& pool() { return pool_; }
  TypeArena& types() { return types_; }
  Access& access() { return checker_.access(); }

  // What a return needs of the entry, for Lowered::kept.
  HitProgram kept() const;

 private:
  static std::unique_ptr<Expression> expression(Expression::Kind kind, std::string_view text);
  static std::unique_ptr<Expression> expression_of_given(uint64_t which);

  HitScopes scopes_;
  Builder& pool_;
  TypeArena types_;
  EntryValues entries_;
  Checker checker_;
};

// As types are named in scripts: "struct request *", "unsigned int", "uint64_t **", "const char *". nullopt: it is none.
std::optional<TypeName> type_name_of(std::string_view text);

}  // namespace blip::script
