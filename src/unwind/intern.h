// SPDX-License-Identifier: MIT
// A stack that was seen before has an id already. Runs inside the target, in any number of threads and signal
// handlers at once: freestanding, no locks.
#pragma once

#include "abi/unwind.h"

namespace blip::unwind {

// Adds up the frames of a walk, and writes them down where there is room for them.
struct FrameSum {
  uint64_t* room = nullptr;
  uint32_t capacity = 0;
  uint32_t count = 0;
  uint64_t hash = 0;

  void operator()(uint64_t frame) {
    if (count < capacity) room[count] = frame;
    ++count;
    mix(frame);
  }
  uint64_t finish(abi::UnwindEnd end) {
    mix(static_cast<uint64_t>(end));
    return hash == 0 ? 1 : hash;
  }

 private:
  void mix(uint64_t n) {
    constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
    hash = (hash + n) * kFactor;
    hash ^= hash >> 32;
  }
};

class StackInterner {
 public:
  explicit StackInterner(uint8_t* table)
      : table_(reinterpret_cast<abi::StackTable*>(table)),
        slots_(reinterpret_cast<abi::StackSlot*>(table_ + 1)),
        frames_(reinterpret_cast<uint64_t*>(slots_ + table_->slot_mask + 1)) {}

  // `walk(FrameSum&)` calls it with each frame and returns why it ended. It is called once for a stack
  // that is known, twice for a new one, so that no room is needed for frames elsewhere. Whoever got the id
  // finds the frames behind it: it is told only when they are written. kNoStack: there is no room, which is
  // counted.
  template <typename Walk>
  uint32_t intern(const Walk& walk) {
    FrameSum sum;
    const uint64_t hash = sum.finish(walk(sum));
    for (uint32_t way = 0; way < abi::kStackWays; ++way) {
      const auto id = static_cast<uint32_t>(hash + way) & table_->slot_mask;
      if (!claim(slots_[id], hash)) continue;
      if (__atomic_load_n(&slots_[id].place, __ATOMIC_ACQUIRE) != 0) return id;
      if (fill(slots_[id], hash, sum, walk)) return id;
      break;
    }
    __atomic_fetch_add(&table_->refused, 1, __ATOMIC_RELAXED);
    return abi::kNoStack;
  }

 private:
  static bool claim(abi::StackSlot& slot, uint64_t hash) {
    uint64_t found = __atomic_load_n(&slot.hash, __ATOMIC_ACQUIRE);
    if (found != 0) return found == hash;
    return __atomic_compare_exchange_n(&slot.hash, &found, hash, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
           found == hash;
  }

  // Somebody else may be filling the slot too, or have died over it: who is first is right, as all write the
  // same. Frames that were second are room lost.
  template <typename Walk>
  bool fill(abi::StackSlot& slot, uint64_t hash, FrameSum& sum, const Walk& walk) {
    const uint32_t count = sum.count;
    if (__atomic_load_n(&table_->next_frame, __ATOMIC_RELAXED) + count > table_->frame_capacity) return false;
    const uint64_t first = __atomic_fetch_add(&table_->next_frame, count, __ATOMIC_RELAXED);
    if (first + count > table_->frame_capacity) return false;
    sum = {.room = frames_ + first, .capacity = count};
    const abi::UnwindEnd end = walk(sum);
    if (sum.finish(end) != hash || sum.count != count) return false;
    uint64_t none = 0;
    __atomic_compare_exchange_n(&slot.place, &none, abi::make_stack_place(first, count, end), false,
                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return true;
  }

  abi::StackTable* table_;
  abi::StackSlot* slots_;
  uint64_t* frames_;
};

}  // namespace blip::unwind
