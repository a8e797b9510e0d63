// SPDX-License-Identifier: MIT
// From variables to their parts and values. Errors are refusals: who calls knows where they stand.
#pragma once

#include "base/result.h"
#include "script/ir/builder.h"
#include "script/types/builtin_types.h"
#include "script/types/members.h"
#include "script/types/scope.h"
#include "script/values/operand.h"

namespace blip::script {

class Access {
 public:
  Access(Builder& builder, TypeArena& types) : builder_(builder), types_(types) {}

  // References stand for what they refer to.
  Operand variable(const Variable& variable);
  Operand at_place(const Type& type, const Place& place);
  Operand value(uint32_t node, const Type& type) {
    return {.kind = Operand::Kind::kValue, .type = &type, .node = node};
  }
  Operand memory(uint32_t address, const Type& type);

  // `size` bytes, or what the type has, from `offset` on.
  Operand part(const Operand& whole, uint64_t offset, const Type& type);
  Result<Operand> member(const Operand& whole, std::string_view name);
  Operand member(const Operand& whole, const FoundMember& found);

  Result<Operand> dereference(const Operand& pointer);
  Result<uint32_t> address(const Operand& operand);  // if it is in memory

  // Its bits, at most 8 bytes, those above being zeros or anything; of arrays and functions: the address.
  Result<uint32_t> bits(const Operand& operand);
  // As the operations want it: numbers extended to 64 bits by their type, floats as doubles.
  Result<uint32_t> number(const Operand& operand);

  Builder& builder() { return builder_; }
  TypeArena& types() { return types_; }

 private:
  Operand follow(Operand operand);
  Operand cut(const Operand& whole, uint64_t offset, uint64_t size);
  Operand cut_pieces(const Operand& whole, uint64_t offset, uint64_t size);
  Result<uint32_t> low_bytes(const Operand& operand, uint64_t size);
  Result<uint32_t> join(const Operand& operand, uint64_t size);
  uint32_t load_bytes(uint32_t address, uint64_t size);
  Result<uint32_t> extract(const Operand& field);

  Builder& builder_;
  TypeArena& types_;
};

// A refusal that names the type.
Error not_this(const Operand& operand, std::string_view what);

}  // namespace blip::script
