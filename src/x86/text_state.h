// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>

#include "x86/code_map.h"

namespace blip::x86 {

// What a plan does to the bytes of a segment, while it is being made.
class TextState {
 public:
  explicit TextState(const CodeMap& map)
      : map_(map), cells_(static_cast<uint16_t*>(std::calloc(map.size() + 1, sizeof(uint16_t)))) {}

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
    const uint16_t cell = cells_[a - map_.base()];
    return cell & kChanged ? static_cast<uint8_t>(cell) : map_.byte(a);
  }

  // Somebody else may change it, nobody knows to what.
  void doubt(TargetAddr a) { set(a, kUnknown); }
  void take(TargetAddr a) { set(a, kTaken); }
  void take_as_room(TargetAddr a) { set(a, kTaken | kTail); }
  void lock(TargetAddr a) { set(a, kLocked); }
  void put(TargetAddr a, uint8_t value) {
    cells_[a - map_.base()] &= 0xff00;
    set(a, kTaken | kChanged | value);
    clear(a, kTail);
  }
  void put_unknown(TargetAddr a) {
    set(a, kTaken | kUnknown);
    clear(a, kTail);
  }
  // What was unknown is decided.
  void fix(TargetAddr a, uint8_t value) {
    clear(a, kUnknown);
    put(a, value);
  }

 private:
  enum : uint16_t { kTaken = 0x100, kLocked = 0x200, kChanged = 0x400, kUnknown = 0x800, kTail = 0x1000 };

  bool has(TargetAddr a, unsigned bits) const { return (cells_[a - map_.base()] & bits) != 0; }
  void set(TargetAddr a, unsigned bits) { cells_[a - map_.base()] |= static_cast<uint16_t>(bits); }
  void clear(TargetAddr a, unsigned bits) { cells_[a - map_.base()] &= static_cast<uint16_t>(~bits); }

  struct Free {
    void operator()(uint16_t* p) const { std::free(p); }
  };

  const CodeMap& map_;
  std::unique_ptr<uint16_t[], Free> cells_;  // from calloc: pages nobody asks about cost nothing
};

}  // namespace blip::x86
