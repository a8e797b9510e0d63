// SPDX-License-Identifier: MIT
// Says what names mean at a place of a program.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unknown.h"
#include "script/ir/ir.h"
#include "script/types/type.h"

namespace blip::script {

// The place of a value. Codes end with the node that is the result.
struct Place {
  enum class Kind : uint8_t {
    kOptimizedOut,
    kAddress,  // code gives where in memory
    kValue,    // code gives the value's bits, at most 8 bytes
    kPieces,   // pieces, lowest bytes first
  } kind = Kind::kOptimizedOut;
  Code code;
  struct Piece;
  std::vector<Piece> pieces;
  Unknown why = Unknown::kOptimizedOut;  // of kOptimizedOut
};
struct Place::Piece {
  Place place;  // no pieces itself
  uint32_t size = 0;
};
// Nothing is known, and why.
inline Place unknown_place(Unknown why) { return {.code = {}, .pieces = {}, .why = why}; }

struct Variable {
  std::string name;
  const Type* type = nullptr;
  Place place;
  bool is_parameter = false;
};

// Addresses in codes are those of the running process.
class Scope {
 public:
  virtual ~Scope() = default;
  // A parameter or local, innermost first; else a variable of the compilation unit; else a global one.
  virtual std::optional<Variable> find(std::string_view name) = 0;
  // MODULE::NAME and FILE.c::NAME; `where` is the part before the colons.
  virtual std::optional<Variable> find_in(std::string_view where, std::string_view name) = 0;
  // "int", "unsigned long", "struct request", "request", "ns::request".
  virtual const Type* find_type(std::string_view name) = 0;
  virtual std::vector<Variable> parameters() = 0;
  virtual std::vector<Variable> locals() = 0;  // visible here, without parameters; inner ones hide outer ones
  // The type that the function returns; null if unknown.
  virtual const Type* result_type() = 0;
  // Returns where the result is at the return, if the source knows how it is passed (C++ classes); none if
  // the convention decides.
  virtual std::optional<Place> result_place() { return std::nullopt; }
  // Why `name` may be unknown: "libfoo.so has no debugging information (looked in ...)"; empty: it has some.
  virtual std::string what_is_missing() = 0;
  // Empty: arg0, farg0, ... mean arguments as the calling convention has them. Else the names that arguments
  // have here.
  virtual std::string argument_names() { return {}; }
  // Files that have a variable of that name for themselves.
  virtual std::vector<std::string> files_with(std::string_view /*name*/) { return {}; }
};

}  // namespace blip::script
