// SPDX-License-Identifier: MIT
// How captured bytes look to the reader of a trace: fields with names and types, made of a program's outputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "script/ir/ir.h"
#include "script/types/type.h"

namespace blip::script {

// Whose name a field has.
enum class Origin : uint8_t { kParameter, kLocal, kCapture, kContext };

struct Shape {
  enum class Kind : uint8_t {
    kInt,      // size 1, 2, 4, 8; bit-fields too
    kAddress,  // shown in hex
    kBool,
    kChar,   // one character
    kFloat,  // 4, 8, or 16 with 10 used
    kEnum,   // a number of `size` bytes with `enumerators`
    kText,   // of an output that is a kString, or a kSequence of bytes; or `count` bytes of a kBytes: up to
             // NUL
    kArray,  // `count` times members[0]
    kSequence,       // members[0], as many as the output (a kSequence) holds
    kStruct,         // members
    kCollected,      // members[0], as many as were found: of an output that is a kCollected, or an element
    kCollectedText,  // a text in one of those
    kNote,           // no data: `note` stands in its place ("<optimized out>")
  } kind = Kind::kInt;
  std::string name;
  uint32_t output = kNone;  // whose bytes it is made of; of a kStruct: kNone if its members have their own
  uint32_t offset = 0;      // in those bytes; in an element, from its start
  uint32_t size = 0;  // bytes; of one element: what the next lies apart; of a kCollected: what of an element
                      // comes as it is
  bool is_signed = false;
  bool is_hex = false;                   // shown in base 16, as addresses always are
  uint8_t bit_offset = 0, bit_size = 0;  // of a bit-field
  uint32_t count = 0;
  std::vector<Enumerator> enumerators;
  std::vector<Shape> members;
  std::string note;
  Origin origin = Origin::kCapture;  // of a field of the event itself
};

}  // namespace blip::script
