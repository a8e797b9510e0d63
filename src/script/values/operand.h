// SPDX-License-Identifier: MIT
// A typed value while an expression is checked: what it is, and the code that finds it.
#pragma once

#include <string>
#include <vector>

#include "base/unknown.h"
#include "script/ir/ir.h"
#include "script/types/type.h"

namespace blip::script {

struct Operand {
  enum class Kind : uint8_t {
    kOptimizedOut,
    kMemory,  // at the address `node`
    kValue,   // its bits are the low ones of `node`; those above may be anything
    kPieces,  // several of the others, lowest bytes first
    kText,    // "text"
    kSlice,   // `length` elements of `type` at the address `node`
  } kind = Kind::kOptimizedOut;
  const Type* type = nullptr;
  uint32_t node = kNone;
  // A bit-field: in the memory at `node`, or in `node`; it may begin beyond the first byte.
  uint32_t bit_offset = 0;
  uint8_t bit_size = 0;
  bool may_go_on = false;  // an array at the end of a structure, of one element or none: there may be more
  struct Piece;
  std::vector<Piece> pieces;
  uint32_t length = kNone;
  std::string text;
  Unknown why = Unknown::kOptimizedOut;  // of kOptimizedOut
};
struct Operand::Piece {
  Operand part;
  uint64_t size = 0;
};

inline bool is_text(const Operand& a) { return a.kind == Operand::Kind::kText; }

}  // namespace blip::script
