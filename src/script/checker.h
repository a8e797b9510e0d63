// SPDX-License-Identifier: MIT
// From expressions to typed operands with their code.
#pragma once

#include <span>

#include "script/names.h"
#include "script/values/arithmetic.h"
#include "script/values/containers.h"

namespace blip::script {

// Values that a return needs from the entry of its call. Each has 8 bytes and is computed and kept there.
struct EntryValues {
  Builder builder;
  std::vector<uint32_t> nodes;  // by number

  uint64_t keep(uint32_t node);
};

// Keeps the value of an operand of `there`, which is the access of what builds entries, for the code of
// `here`. Small structures are kept as a whole.
Result<Operand> keep_operand(EntryValues& entries, Access& there, const Operand& operand, Access& here);

class Checker {
 public:
  // `entries` collects what entry(x) needs; null: there is no entry(x) in an entry(x).
  Checker(std::string_view source, Builder& builder, TypeArena& types, const HitScopes& site,
          EntryValues* entries)
      : source_(source),
        types_(types),
        site_(site),
        entries_(entries),
        access_(builder, types),
        names_(access_, site),
        arithmetic_(access_) {}

  // Errors have their place.
  Result<Operand> check(const Expression& e);
  // As a condition.
  Result<uint32_t> check_truth(const Expression& e);

  // The meaning of kGiven; they must live as long as they are looked at.
  void give(std::span<const Operand> operands) { given_ = operands; }

  Access& access() { return access_; }
  Names& names() { return names_; }

 private:
  Result<Operand> look(const Expression& e);
  Result<Operand> number(const Expression& e);
  Result<Operand> member(const Expression& e);
  // The result of a container's method, such as size().
  Result<Operand> method(const Expression& e);
  Operand value_of(const Optional& optional);
  Result<Operand> index(const Expression& e);
  Result<Operand> slice(const Expression& e);
  Result<Operand> unary(const Expression& e);
  Result<Operand> binary(const Expression& e);
  Result<Operand> logical(const Expression& e);
  Result<Operand> cast(const Expression& e);
  Result<Operand> call(const Expression& e);
  Result<Operand> entry(const Expression& e);
  Result<Operand> starts_with(const Expression& e);
  Result<Operand> address_of(const Operand& a);
  Result<Operand> size_of(const Type& type);

  // Both sides; a name may be a label of the enumeration on the other side.
  Status sides(const Expression& e, Operand& a, Operand& b);
  std::optional<Operand> label(const Expression& e, const Operand& other);
  Status check_sign(const Operand& a, const Operand& b);

  Operand truth_value(uint32_t node) { return access_.value(node, int_type(4, true)); }
  FindType type_finder() {
    return [this](std::string_view name) { return names_.find_type(name); };
  }

  std::string_view source_;
  TypeArena& types_;
  const HitScopes& site_;
  EntryValues* entries_;
  std::span<const Operand> given_;
  bool wants_address_ = false;  // of the element that the next index finds
  Access access_;
  Names names_;
  Arithmetic arithmetic_;
};

}  // namespace blip::script
