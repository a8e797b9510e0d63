// SPDX-License-Identifier: MIT
// Values whose parts lie in many places: containers of containers, trees, lists, texts. A table of steps says
// where the parts are; collect.h follows it at a hit and writes what it finds as bytes that tell their own
// lengths. The table lies in the pad's code, so that it is shared between blip and target.
//
//   sequence    state 1 | size 8 | count 2 | count elements
//   element     block: bytes of the element as they lie there | its texts and sequences, in step order
//   text        state 1 | length 2 | bytes
//
// All numbers are unaligned and little endian. What comes back is whole whatever the memory held: a table is
// bounded in bytes, elements and links that are followed, and each text and sequence says what it lacks.
#pragma once

#include <cstdint>

namespace blip::collect {

enum class State : uint8_t {
  kWhole,
  kCut,   // there is more
  kNull,  // a text at NULL
  kBad,   // the rest cannot be read
};
inline constexpr uint8_t kStates = 4;

inline constexpr uint32_t kSequenceHead = 1 + 8 + 2;
inline constexpr uint32_t kTextHead = 1 + 2;

// The ways to find the bytes of a text or the elements of a sequence. Offsets count from the start of the
// object.
enum class Where : uint8_t {
  // Texts.
  kCString,  // the pointer at `a`
  kShort,    // libc++: the lowest bit of the byte at 0 tells a long one (pointer at `a`, length at `b`) from
             // one whose length is in the other bits and whose bytes are at `c`
  kShared,   // the pointer at `a`, the length 24 bytes before what it points to
  // Both.
  kCounted,  // the pointer at `a`, the number at `b`, or `count` if that is kNoSize
  // Sequences.
  kBetween,  // pointers to the first at `a` and behind the last at `b`
  kInline,   // `count` of them at `a`
  kIf,       // one at `a` if the byte at `b` is not 0
  kGiven,    // the object's address is that of the first; the number is told apart. The outermost only
  kTree,     // the first node's address is at `a`, the number at `b`, and the node at `c` ends it
  kChain,    // the first node's address is at `a`, the number at `b` (kNoSize: unknown); what is at `c`, or
             // NULL if that is kNoSize, ends it
  kBlocks,   // libstdc++: iterators { element, block's begin, end, block's place } at `a` and `b`
  kIndexed,  // libc++: pointer to the blocks' addresses at `a`, index of the first at `b`, number at `c`,
             // `count` in a block
};
inline constexpr uint32_t kNoSize = UINT32_MAX;

struct Step {
  bool is_text = false;
  Where where = Where::kCString;
  uint16_t next = 0;  // the step behind this one and, of a sequence, behind those of its elements
  uint32_t a = 0, b = 0, c = 0;
  uint32_t offset = 0;  // of the object in what it is a part of
  uint32_t count = 0;
  uint32_t limit = 0;  // bytes of a text, elements of a sequence
  uint32_t after = 0;  // bytes that what comes behind it in the same element needs at least
  // For sequences only.
  uint32_t stride = 0;        // from one element to the next
  uint32_t value_offset = 0;  // of an element in its node
  uint32_t block_offset = 0;  // of its block in the element
  uint32_t block_size = 0;
  uint32_t least = 0;        // bytes that an element needs at least
  uint32_t next_offset = 0;  // of links in a node
  uint32_t left_offset = 0, right_offset = 0, parent_offset = 0;

  bool operator==(const Step&) const = default;
};

struct Table {
  uint32_t size = 0;   // bytes that may be written
  uint32_t hops = 0;   // links of trees and chains that are followed at most
  uint64_t safe_load;  // address of an abi::SafeLoad in the target; 0: there is none
  // Step steps[]: the first is a sequence
};

inline constexpr uint32_t kMostLevels = 4;  // of sequences in each other

}  // namespace blip::collect
