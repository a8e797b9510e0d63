// SPDX-License-Identifier: MIT
// Types of values in scripts: they say how a value is compared, sorted and shown. In a handler all that is no text is a number
// of 64 bits; tuples and records are several values one after the other, their leaves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "script/types/type.h"
#include "state/types.h"

namespace blip::bt {

struct Field;

struct Type {
  enum class Kind : uint8_t {
    kNothing,
    kUnknown,  // it depends on the place of the probe, which is not known yet
    kInteger,
    kBool,
    kText,
    kBuffer,   // bytes
    kPointer,  // to `target`; null: to what is not known
    kTarget,   // what lies in the target: a structure or an array of type `target`
    kTuple,
    kRecord,
    kArray,      // fields of one type
    kEnum,       // a label of `target`
    kUstack,     // a stack and a process
    kUsym,       // a process and an address
    kUser,       // a number, shown as the user's name
    kTimestamp,  // nanoseconds since 1970, shown by the format `name`
    kInet,       // the bytes of an address
    kMac,        // 6 bytes
    kCount,      // these are the values of maps only
    kSum,
    kMin,
    kMax,
    kAverage,
    kStats,
    kHist,
    kLhist,
    kTseries,
  } kind = Kind::kNothing;
  bool is_signed = true;
  bool is_flexible = false;  // a number that was written: it is signed or not as the others want it
  uint8_t size = 8;          // of integers
  uint32_t most = 0;         // bytes of a text or buffer: one that has as many was cut. 0: it was not
  uint32_t limit = 0;        // frames of a stack
  std::string name{};        // of a mode or format
  const script::Type* target = nullptr;
  std::vector<Field> fields;

  bool is_number() const;  // one that can be computed with
  bool is_text() const { return kind == Kind::kText; }
  bool is_unknown() const { return kind == Kind::kUnknown; }
  bool is_several() const { return kind == Kind::kTuple || kind == Kind::kRecord || kind == Kind::kArray; }
  bool is_aggregate() const { return kind >= Kind::kCount; }
};

struct Field {
  std::string name;
  Type type;
};

// Of what values of a type are made.
std::vector<state::ValueType> leaves_of(const Type& type);
size_t count_leaves(const Type& type);

// As it is named in messages: "int64", "string", "(int64,string)".
std::string to_string(const Type& type);

Type integer(uint8_t size = 8, bool is_signed = true);
Type text_type(uint32_t most = 0);
Type of_kind(Type::Kind kind);

// A type that has the values of both; kNothing: there is none.
Type common_type(const Type& a, const Type& b);

// What C's type is here.
Type from_target(const script::Type& type);

}  // namespace blip::bt
