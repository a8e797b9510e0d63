// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "x86/code_map.h"

namespace blip::x86 {

// The changes that a plan makes to the bytes of a segment, while it is being made.
class TextState {
 public:
  explicit TextState(const CodeMap& map) : map_(map), chunks_(map.size() / kChunk + 1), cells_(1) {}

  // Part of a rewrite: nobody else may change it.
  bool is_taken(TargetAddr a) const { return has(a, kTaken); }
  // Somebody's displacement: its value must stay.
  bool is_locked(TargetAddr a) const { return has(a, kLocked); }
  bool is_untouched(AddrRange range) const {
    for (TargetAddr a = range.begin; a < range.end; a = a + 1)
      if (!map_.contains(a) || has(a, kTaken | kLocked)) return false;
    return true;
  }
  // Nobody executes it and nobody needs its value: room for the jump of somebody else.
  bool is_room(TargetAddr a) const {
    if (!map_.contains(a) || has(a, kLocked)) return false;
    return has(a, kTaken) ? has(a, kTail) : map_.is_dead(a);
  }
  // The byte as it will be; nothing if that depends on where a pad comes to lie.
  std::optional<uint8_t> byte(TargetAddr a) const {
    if (!map_.contains(a) || has(a, kUnknown)) return std::nullopt;
    const uint16_t cell = cell_at(a);
    return cell & kChanged ? static_cast<uint8_t>(cell) : map_.byte(a);
  }

  // Somebody else may change it, nobody knows to what.
  void doubt(TargetAddr a) { set(a, kUnknown); }
  void take(TargetAddr a) { set(a, kTaken); }
  void take_as_room(TargetAddr a) { set(a, kTaken | kTail); }
  void lock(TargetAddr a) { set(a, kLocked); }
  void put(TargetAddr a, uint8_t value) {
    clear(a, 0xff);
    set(a, kTaken | kChanged | value);
    clear(a, kTail);
  }
  void put_unknown(TargetAddr a) {
    set(a, kTaken | kUnknown);
    clear(a, kTail);
  }
  // Decides a byte that was unknown.
  void fix(TargetAddr a, uint8_t value) {
    clear(a, kUnknown);
    put(a, value);
  }

 private:
  enum : uint16_t { kTaken = 0x100, kLocked = 0x200, kChanged = 0x400, kUnknown = 0x800, kTail = 0x1000 };

  // Most of the text is never touched.
  static constexpr size_t kChunk = 32;
  using Chunk = std::array<uint16_t, kChunk>;

  uint16_t cell_at(TargetAddr a) const {
    const uint64_t at = a - map_.base();
    return cells_[chunks_[at / kChunk]][at % kChunk];
  }
  uint16_t& cell_to_change(TargetAddr a) {
    const uint64_t at = a - map_.base();
    uint32_t& chunk = chunks_[at / kChunk];
    if (chunk == 0) {
      chunk = static_cast<uint32_t>(cells_.size());
      cells_.emplace_back();
    }
    return cells_[chunk][at % kChunk];
  }
  bool has(TargetAddr a, unsigned bits) const { return (cell_at(a) & bits) != 0; }
  void set(TargetAddr a, unsigned bits) { cell_to_change(a) |= static_cast<uint16_t>(bits); }
  void clear(TargetAddr a, unsigned bits) { cell_to_change(a) &= static_cast<uint16_t>(~bits); }

  const CodeMap& map_;
  std::vector<uint32_t> chunks_;  // by place: of cells_
  std::deque<Chunk> cells_;       // the first is of what is untouched
};

}  // namespace blip::x86
