// SPDX-License-Identifier: MIT
// The target's half of the shared ring: claim a slot, stamp it, commit it. Runs inside the target (runtime
// blob), so: freestanding, no locks, no libc, a bounded number of steps, never fails loudly.
// docs/design/ring.md has the protocol.
#pragma once

#include "abi/layout.h"
#include "machine/instructions.h"
#include "ring/system_calls.h"

namespace blip::ring {

struct Reservation {
  uint8_t* record;  // header stored, fields follow; nullptr: nothing to write, the hit is counted already
  uint32_t cpu;
  int32_t tid;  // 0: not known
};

// Steps beyond one lap of the ring after which a hit gives up and counts as discarded.
inline constexpr uint32_t kExtraReserveSteps = 64;

template <typename T>
inline T* shared_at(uint8_t* control, uint64_t offset) {
  return reinterpret_cast<T*>(control + offset);
}

// The home region of a channel region.
inline uint8_t* home_of(uint8_t* channel) {
  return reinterpret_cast<uint8_t*>(shared_at<const abi::DataHeader>(channel, 0)->home_addr);
}

// The gate page lies right below the home region.
inline abi::GatePage* gate_page_of(uint8_t* home) {
  return reinterpret_cast<abi::GatePage*>(home - abi::kGatePageSize);
}

inline const abi::Area& area_of(uint8_t* control, abi::AreaId id) {
  return shared_at<const abi::DataHeader>(control, 0)->area(id);
}

// How far the state's ticket is ahead of `ticket`, scaled; right across the wrap of the 46-bit tickets.
inline int64_t ticket_distance(uint64_t state, uint64_t ticket) {
  constexpr uint64_t kLowBits = (uint64_t{1} << abi::kSlotTicketShift) - 1;
  return static_cast<int64_t>((state & ~kLowBits) - (ticket << abi::kSlotTicketShift));
}

// Adds one to a counter of the shared ring's row. Locked: hits of all CPUs meet there.
inline void count_hit(uint8_t* control, abi::CounterKind kind, uint32_t class_id) {
  const auto* header = shared_at<const abi::DataHeader>(control, 0);
  const uint64_t row_size = abi::Geometry::align_up(uint64_t{header->class_count} * 8, 2 * abi::kCacheLine);
  const uint64_t row = uint64_t{kind} * (uint64_t{header->ring_count} + 1) + header->ring_count;
  const uint64_t counters = header->area(abi::AreaId::kCounters).offset;
  auto* counter = shared_at<uint64_t>(control, counters + row * row_size + class_id * uint64_t{8});
  __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

// Claims the first free slot from the hint on: its state word, now busy(ticket, class_id). nullptr: no room.
inline uint64_t* claim_slot(uint8_t* control, uint16_t class_id) {
  auto* ring = shared_at<abi::SharedRing>(control, area_of(control, abi::AreaId::kSharedRing).offset);
  uint8_t* slots = control + ring->slots_offset;
  uint64_t ticket = __atomic_load_n(&ring->tail_hint, __ATOMIC_RELAXED);
  for (uint64_t steps = uint64_t{ring->slot_mask} + kExtraReserveSteps; steps != 0; --steps) {
    auto* slot = reinterpret_cast<uint64_t*>(slots + ((ticket & ring->slot_mask) << ring->slot_shift));
    uint64_t state = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (state == abi::slot_state(ticket, 0, abi::kSlotFree)) {
      if (__atomic_compare_exchange_n(slot, &state, abi::slot_state(ticket, class_id, abi::kSlotBusy), false,
                                      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        // Only a hint; the comparison keeps a writer that slept here from throwing it far back.
        if (static_cast<int64_t>(ticket + 1 - __atomic_load_n(&ring->tail_hint, __ATOMIC_RELAXED)) > 0)
          __atomic_store_n(&ring->tail_hint, ticket + 1, __ATOMIC_RELAXED);
        return slot;
      }
    }
    const int64_t distance = ticket_distance(state, ticket);
    const uint64_t consumed = __atomic_load_n(&ring->consumed, __ATOMIC_ACQUIRE);
    if (distance < 0) {
      if (ticket_distance(state, consumed) >= 0) return nullptr;  // the previous lap is not drained: full
      // Below `consumed`: a leaked slot, unless it was drained between the two loads; then it is looked at
      // again.
      if (__atomic_load_n(slot, __ATOMIC_ACQUIRE) != state) continue;
      ++ticket;
    } else if (distance > 0 && static_cast<int64_t>(consumed - ticket) > 1) {
      ticket = consumed;  // the hint was far behind
    } else {
      ++ticket;
    }
  }
  return nullptr;
}

// The last word of a slot: the pid of its writer.
inline uint64_t* slot_pid(uint8_t* control, uint64_t* slot) {
  const auto* ring =
      shared_at<const abi::SharedRing>(control, area_of(control, abi::AreaId::kSharedRing).offset);
  return slot + (uint64_t{1} << (ring->slot_shift - 3)) - 1;
}

inline int32_t system_tid() {
  constexpr long kSysGettid = 186;
  return system_id(kSysGettid);
}

// The first hit in a fork's child that nobody announced: its page is wiped. What libc keeps of the thread's
// id may be its parent's, so the kernel is asked. Threads that do this at once store the same.
inline uint32_t open_wiped_gate(uint8_t* home, abi::GatePage* page) {
  constexpr long kSysGetpid = 39;
  const auto* header = shared_at<const abi::DataHeader>(home, 0);
  const uint32_t gate = header->unannounced_gate;
  if ((gate & abi::kGateOpen) != 0) {
    if (!begin_own_call(page)) return abi::kGateClosed;
    page->pid = system_id(kSysGetpid);
    end_own_call(page);
    if (__atomic_load_n(&header->filtered, __ATOMIC_RELAXED) != 0) page->no_syscalls = 1;
    page->tid_offset = abi::kNoTidOffset;
  }
  uint32_t closed = abi::kGateClosed;
  const bool mine =
      __atomic_compare_exchange_n(&page->gate, &closed, gate, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  return mine ? gate : closed;
}

// The calling thread as the kernel names it. The thread pointer is believed only while no child can be
// running on a parent's TLS (gate == kGateOpen); where a system call is needed but forbidden, 0.
inline int32_t current_tid(abi::GatePage* page, uint32_t gate) {
  if (gate == abi::kGateOpen && page->tid_offset != abi::kNoTidOffset) {
    return machine::thread_word(page->tid_offset);
  }
  if (!begin_own_call(page)) return 0;
  const int32_t tid = system_tid();
  end_own_call(page);
  return tid;
}

// When and where a hit was.
struct Stamp {
  uint64_t time;
  uint32_t cpu;
};

struct TscStamper {
  Stamp operator()() const {
    const auto [tsc, cpu] = machine::read_counter_on_cpu();
    return {tsc, cpu};
  }
};

// Used where the TSC cannot be: CLOCK_MONOTONIC in ns, from the vDSO's clock_gettime or, if `function_addr`
// is 0, by a system call.
struct MonotonicStamper {
  uint64_t function_addr;

  Stamp operator()() const {
    constexpr int kMonotonic = 1;  // CLOCK_MONOTONIC
    constexpr uint64_t kSecond = 1'000'000'000;
    struct {
      uint64_t seconds, nanoseconds;
    } now;
    if (function_addr != 0) {
      reinterpret_cast<int (*)(int, void*)>(function_addr)(kMonotonic, &now);
    } else {
      machine::system_call_2(machine::kSysClockGettime, kMonotonic, reinterpret_cast<long>(&now));
    }
    return {now.seconds * kSecond + now.nanoseconds, machine::current_cpu()};
  }
};

// One hit on its way to the shared ring of the channel region at `control`. On
// success the caller writes the fields behind the header and then calls commit(); until then the slot is its
// own.
template <class Stamper = TscStamper>
inline Reservation reserve(uint8_t* control, uint16_t class_id, Stamper stamper = {}) {
  uint8_t* home = home_of(control);
  abi::GatePage* page = gate_page_of(home);
  uint32_t gate = __atomic_load_n(&page->gate, __ATOMIC_RELAXED);
  if (gate == abi::kGateClosed) [[unlikely]]
    gate = open_wiped_gate(home, page);
  if ((gate & abi::kGateOpen) == 0) {
    if ((gate & abi::kGateIgnored) == 0) count_hit(control, abi::kSkipped, class_id);
    return {nullptr, 0, 0};
  }
  const int32_t tid = current_tid(page, gate);
  uint64_t* slot = claim_slot(control, class_id);
  if (slot == nullptr) {
    count_hit(control, abi::kDiscarded, class_id);
    return {nullptr, 0, 0};
  }
  // After the claim: the consumer relies on "claimed after I looked, so not older than my look".
  const Stamp stamp = stamper();
  slot[1] = abi::make_header(class_id, stamp.time);
  *slot_pid(control, slot) = static_cast<uint64_t>(page->pid);
  return {reinterpret_cast<uint8_t*>(slot + 1), stamp.cpu, tid};
}

// busy -> full: a pad does the same with one `add qword ptr [rdx-8], 1`.
inline void commit(const Reservation& reservation) {
  auto* slot = reinterpret_cast<uint64_t*>(reservation.record) - 1;
  __atomic_store_n(slot, __atomic_load_n(slot, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
}

}  // namespace blip::ring
