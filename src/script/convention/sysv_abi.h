// SPDX-License-Identifier: MIT
// Says where the System V convention for x86-64 puts arguments at the first instruction of a function, and
// results at its last (psABI 3.2.3).
#pragma once

#include <cstdint>
#include <vector>

#include "script/types/scope.h"
#include "script/types/type.h"

namespace blip::script {

struct AbiValue {
  enum class Passing : uint8_t {
    kByValue,
    kByReference,  // C++ types with a copy constructor or destructor of their own
    kNotKnown,     // a structure that may be either
  };
  const Type* type = nullptr;
  Passing passing = Passing::kByValue;
  uint32_t alignment = 0;  // if the source asks for more than the members do
};

struct AbiSignature {
  AbiValue result;  // without a type: void
  std::vector<AbiValue> arguments;
  // Rust follows the convention for scalars, and has its own for the rest: rust_abi.h.
  bool is_rust = false;
  // clang before 18 puts the half of an integer of 16 bytes into the last register, and the other on the
  // stack.
  bool splits_wide_integers = false;
  uint32_t vector_size = 16;  // of the registers that the code was certainly made for
};

// One place for each argument, before the prologue; kOptimizedOut where it cannot be told.
std::vector<Place> argument_places(const AbiSignature& signature);
// The place that lies `distance` bytes above rsp at the entry.
Place entry_stack_slot(int64_t distance);
// At the return, where kResult is rax. `vector_size`: as in AbiSignature.
Place result_place(const AbiValue& result, uint32_t vector_size = 16);
// The same of Rust.
Place rust_result_place(const Type& type);
// A vector register's first `size` bytes, as far as pads see them.
Place vector_place(uint64_t number, uint64_t size);

}  // namespace blip::script
