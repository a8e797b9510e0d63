// SPDX-License-Identifier: MIT
// Pads of return probes leave this to the runtime: whatever is not "the first place is free" or "my call is
// in the first place". Runs inside the target: freestanding, a bounded number of steps.
// docs/design/returns.md.
#pragma once

#include "abi/shadow.h"
#include "machine/instructions.h"
#include "ring/writer.h"

namespace blip::ring {

class Shadow {
 public:
  // `control` is the channel region whose classes the calls are of, `slot` where the return address of the call is that is
  // looked at.
  Shadow(uint8_t* control, uint64_t slot) : control_(control), slot_(slot) {
    uint8_t* home = home_of(control);
    const auto* header = shared_at<const abi::DataHeader>(home, 0);
    page_ = gate_page_of(home);
    memory_ = home - abi::kGatePageSize - header->trap_size - header->shadow_size;
    gate_ = __atomic_load_n(&page_->gate, __ATOMIC_RELAXED);
    by_thread_ = header->shadow_by_thread != 0;
  }

  // The call is entered: room for it, without its time and sum. nullptr: none, counted as skipped.
  abi::ShadowFrame* enter(uint32_t id) {
    if ((gate_ & abi::kGateIgnored) != 0) return nullptr;
    abi::ShadowFrame* frame = find();
    if (frame != nullptr) {
      abandon(*frame);  // nobody can be in a call whose return address is gone
    } else if (frame = claim(); frame == nullptr) {
      count(abi::kUnpaired, id);
      return nullptr;
    }
    abi::ShadowThread* thread = this->thread(true);
    if (thread == nullptr) {  // the depth of the call, and of those inside it, would be wrong
      __atomic_store_n(&frame->slot, 0, __ATOMIC_RELEASE);
      count(abi::kUnpaired, id);
      return nullptr;
    }
    frame->outer = outer_of(*thread);
    thread->top = slot_ << abi::kDepthBits | depth_inside(*frame);
    return frame;
  }

  // Ends what enter() began.
  void start(abi::ShadowFrame& frame, uint32_t id, uint64_t time) const {
    frame.time = time << abi::kClassBits;
    frame.sum = frame.slot + frame.time + frame.outer + id;
  }

  // The call as it was entered. nullptr: it was entered before there were probes, it is another function's,
  // or its place was taken at the very same moment by another thread's, which is counted as skipped.
  abi::ShadowFrame* find_entered(uint32_t id) {
    abi::ShadowFrame* frame = find();
    if (frame != nullptr) {
      const uint64_t found = id_of(*frame);
      if (found == id) return frame;
      if (is_class(found)) return nullptr;
      frame->slot = 0;
      count(abi::kUnpaired, id);
      return nullptr;
    }
    abi::ShadowThread* mine = thread(false);
    if (mine != nullptr && mine->top >> abi::kDepthBits == slot_) {
      mine->top = abi::kNoCall;
      count(abi::kUnpaired, id);
    }
    return nullptr;
  }

  void leave(abi::ShadowFrame& frame) {
    if (abi::ShadowThread* mine = thread(false)) mine->top = frame.outer;
    __atomic_store_n(&frame.slot, 0, __ATOMIC_RELEASE);
  }

 private:
  abi::ShadowFrame* place(uint64_t slot, uint32_t way) const {
    const uint32_t offset =
        abi::shadow_frame_offset(slot) + way * abi::kShadowFrameStep * uint32_t{sizeof(abi::ShadowFrame)};
    return reinterpret_cast<abi::ShadowFrame*>(memory_ + abi::kShadowThreadsSize +
                                               (offset & abi::kFrameMask));
  }

  abi::ShadowFrame* find() const { return find(slot_); }
  abi::ShadowFrame* find(uint64_t slot) const {
    for (uint32_t way = 0; way < abi::kShadowWays; ++way)
      if (abi::ShadowFrame* f = place(slot, way); __atomic_load_n(&f->slot, __ATOMIC_ACQUIRE) == slot)
        return f;
    return nullptr;
  }

  abi::ShadowFrame* claim() const {
    for (uint32_t way = 0; way < abi::kShadowWays; ++way) {
      abi::ShadowFrame* f = place(slot_, way);
      uint64_t free = 0;
      if (__atomic_compare_exchange_n(&f->slot, &free, slot_, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return f;
    }
    return nullptr;
  }

  static uint64_t depth_inside(const abi::ShadowFrame& f) {
    const uint64_t depth = f.outer & abi::kDepthMask;
    return depth == abi::kDepthMask ? depth : depth + 1;
  }
  static uint64_t id_of(const abi::ShadowFrame& f) { return f.sum - f.slot - f.time - f.outer; }
  bool is_class(uint64_t id) const {
    return id >= abi::kFirstClass && id < shared_at<const abi::DataHeader>(control_, 0)->class_count;
  }

  // One that a signal handler left by longjmp before it was written whole has no id.
  void abandon(const abi::ShadowFrame& frame) const {
    if (const uint64_t id = id_of(frame); is_class(id)) count(abi::kAbandoned, static_cast<uint32_t>(id));
  }

  void count(abi::CounterKind kind, uint32_t id) const {
    if ((gate_ & abi::kGateIgnored) == 0) count_hit(control_, kind, id);
  }

  // The thread pointer may be used where the gate was ever opened; where it is not known, 8 MiB of addresses
  // count as one stack.
  uint64_t key() const {
    constexpr unsigned kStackShift = 23;
    if (!by_thread_ || (gate_ & abi::kGateOpen) == 0) return slot_ >> kStackShift | uint64_t{1} << 63;
    return machine::thread_pointer();
  }

  // Of many threads that hash to the same places, the ones that come last may find none.
  abi::ShadowThread* thread(bool may_claim) const {
    const uint64_t mine = key();
    for (uint32_t way = 0; way < abi::kShadowWays; ++way) {
      const uint32_t offset = (abi::shadow_thread_offset(mine) +
                               way * abi::kShadowThreadStep * uint32_t{sizeof(abi::ShadowThread)}) &
                              abi::kThreadMask;
      auto* t = reinterpret_cast<abi::ShadowThread*>(memory_ + offset);
      uint64_t found = __atomic_load_n(&t->key, __ATOMIC_ACQUIRE);
      if (found == mine) return t;
      if (found != 0) continue;
      if (!may_claim) return nullptr;
      if (__atomic_compare_exchange_n(&t->key, &found, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        t->top = abi::kNoCall;
        return t;
      }
      if (found == mine) return t;
    }
    return nullptr;
  }

  // Returns the call around this one. Stacks grow downwards: a call at this slot or below is over, or on
  // another stack.
  uint64_t outer_of(const abi::ShadowThread& thread) const {
    constexpr int kMostSteps = 64;
    uint64_t top = thread.top;
    for (int i = 0; i < kMostSteps; ++i) {
      if (top >> abi::kDepthBits > slot_) return top;
      const abi::ShadowFrame* over = find(top >> abi::kDepthBits);
      if (over == nullptr) return abi::kNoCall;
      top = over->outer;
    }
    return abi::kNoCall;
  }

  uint8_t* control_;
  uint8_t* memory_;
  const abi::GatePage* page_;
  uint64_t slot_;
  uint32_t gate_;
  bool by_thread_;
};

}  // namespace blip::ring
