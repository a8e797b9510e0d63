// SPDX-License-Identifier: MIT
// How captured fields lie in records with a hit word, and how large they become in events.
//
//   record in a ring    header | hit word | plain fields | outputs: bytes or 16-bit lengths
//                       | bytes of changing number, in the order of outputs
//   event in a file     header | (pid) | fields in their order, strings with their NUL,
//                       sequences behind a 16-bit count
#pragma once

#include <cstdint>
#include <span>

#include "ctf/schema.h"

namespace blip::ctf {

inline constexpr uint32_t kLengthSize = 2;       // of an output of changing length, in records
inline constexpr uint32_t kCountSize = 2;        // of a sequence, in events
inline constexpr uint32_t kBitsSize = 8;         // of kFaults and kCut
inline constexpr uint32_t kLongDoubleSize = 16;  // in records
inline constexpr uint32_t kMaxFieldDepth = 16;
inline constexpr uint32_t kMaxFieldCount = 4096;  // of a class, members counted

// At the end of the class, once: kFaults if an output may be a fault, kCut if one may be cut.
void add_bit_fields(EventClass& event_class);
// Arrays of which only the first elements are there have a note. It becomes a field of its own, NAME_more, behind
// the array. The array that is an element of another has no place for it.
void place_notes(std::vector<Field>& fields);
// Contexts are in front already.
void lay_out_captured(EventClass& event_class);
// The largest size of what a record in a ring captured.
uint32_t largest_captured(const EventClass& event_class);

// In an event, at most; saturates at UINT32_MAX / 2. What does not fit the outputs counts as nothing.
uint32_t most_event_bytes(const Field& field, std::span<const RecordOutput> outputs);

// The state that a collected text has in an event if it is whole, and empty: one more than those of records.
inline constexpr uint8_t kEmptyText = 4;

// Bytes that an element of a kCollected needs in a record at least.
uint32_t least_collected(const Field& field);

// Returns how many bytes a bit-field touches; the size of any other field.
uint32_t touched_bytes(const Field& field);

// Bytes of a number (kInt, kBool, kChar, kFloat, kEnum) in an event; of a long double at most.
uint32_t number_size(const Field& field);
bool is_long_double(const Field& field);

}  // namespace blip::ctf
