// SPDX-License-Identifier: MIT
// Types of a program's data, whoever tells them: debugging information, or a table of prototypes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "script/ir/ir.h"

namespace blip::script {

enum class TypeKind : uint8_t {
  kVoid,
  kInt,
  kBool,
  kChar,   // a character: shown as one, and arrays of it as text
  kFloat,  // 4, 8 or (x87, in 16 bytes) 10
  kEnum,
  kPointer,
  kReference,  // a pointer that stands for what it points to
  kArray,
  kStruct,  // classes too
  kUnion,
  kTypedef,   // another name for `target`
  kFunction,  // only pointed to
  kUnknown,   // it was not told, or not understood
};

struct Type;

struct Member {
  std::string name;  // empty: its members count as the outer type's (anonymous unions, base classes)
  const Type* type = nullptr;
  uint64_t offset = 0;     // bytes
  uint8_t bit_offset = 0;  // of a bit-field: from the lowest bit of the bytes at `offset`
  uint8_t bit_size = 0;    // 0: it is none
  bool is_base = false;    // a base class
};

struct Enumerator {
  std::string name;
  int64_t value = 0;  // the bits, if the type is unsigned
};

// Finds the rest of a type when it is first needed.
class TypeSource {
 public:
  virtual ~TypeSource() = default;
  // Fills members, enumerators, arguments, target and size; called once.
  virtual void complete(Type& type) = 0;
};

// Owned by what made it, together with all types it leads to; qualifiers (const, volatile) are dropped.
struct Type {
  TypeKind kind = TypeKind::kUnknown;
  bool is_signed = false;
  std::string name;   // "int", "request" (of struct request), "size_t"; empty: it has none
  uint64_t size = 0;  // bytes
  const Type* target =
      nullptr;  // of pointers, references, arrays (the element), typedefs, functions (the result)
  std::optional<uint64_t> count;  // of arrays: elements; none: not known
  // For arrays whose number of elements is known at run time only: code that computes it. Else null.
  std::shared_ptr<const Code> length = nullptr;
  std::vector<Member> members;
  std::vector<Enumerator> enumerators;
  // For instances of templates: the types among their arguments, in order. Values are left out.
  std::vector<const Type*> arguments;
  uint64_t alignment = 0;  // asked for by alignas; 0: the natural one

  // Not yet read: see complete().
  TypeSource* source = nullptr;
  uint64_t key = 0;  // the source's own

  bool is_complete() const { return source == nullptr; }
};

// The type with all its parts.
const Type& complete(const Type& type);
// The type without names that typedefs give it, complete.
const Type& resolve(const Type& type);
// As C would write it: "struct request *", "char [16]", "size_t".
std::string to_string(const Type& type);

}  // namespace blip::script
