// SPDX-License-Identifier: MIT
// The consumer's walk over the shared ring (docs/design/ring.md, section 2):
//
//   tickets   ... taken ... | full full busy full free free ...          consumed_ is the first not taken
//                           ^ consumed_    ^ the walk stops here; what is taken waits
//                                            until nothing older can come
//
// A slot is freed before `consumed` is raised: writers tell a leaked slot from a drained one by that order.
#include "ring/shared_reader.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "ring/format.h"
#include "ring/writer.h"

namespace blip::ring {

SharedRingReader::SharedRingReader(const abi::Geometry& geometry, uint8_t* region,
                                   std::span<const uint32_t> record_sizes, uint64_t start_tsc)
    : ring_(reinterpret_cast<abi::SharedRing*>(region + geometry.shared_ring_offset())),
      slots_(region + geometry.slots_offset()),
      slot_size_(geometry.slot_size),
      slot_count_(geometry.slot_count),
      record_capacity_(geometry.slot_size - 2 * sizeof(uint64_t)),
      sizes_(record_sizes),
      consumed_(__atomic_load_n(&ring_->consumed, __ATOMIC_RELAXED)),
      released_(consumed_),
      freed_ahead_(consumed_),
      walked_ahead_(consumed_),
      slot_is_leaked_(geometry.slot_count),
      last_(start_tsc),
      discarded_(record_sizes.size()) {
  CHECK(is_valid(geometry) && geometry.slot_size != 0);
  for (uint32_t size : sizes_) CHECK(is_valid_size(size));
}

uint64_t* SharedRingReader::slot(uint64_t ticket) const {
  return reinterpret_cast<uint64_t*>(slots_ + (ticket & (slot_count_ - 1)) * slot_size_);
}

// The hint is anyone's word, and may be a little behind.
bool SharedRingReader::may_be_full() const {
  return __atomic_load_n(&ring_->tail_hint, __ATOMIC_RELAXED) - consumed_ >= slot_count_ / 2;
}

uint32_t SharedRingReader::acquire_buffer() {
  if (free_buffers_.empty()) {
    free_buffers_.push_back(static_cast<uint32_t>(buffers_.size() / buffer_size()));
    buffers_.resize(buffers_.size() + buffer_size());
  }
  const uint32_t index = free_buffers_.back();
  free_buffers_.pop_back();
  return index;
}

uint32_t SharedRingReader::usable_size(uint16_t class_id) const {
  const uint32_t size = class_id < sizes_.size() ? sizes_[class_id] : 0;
  return most_size(size) <= record_capacity_ ? size : 0;
}

void SharedRingReader::collect(uint64_t now, DrainStats& stats) {
  revisit_leaked(false, stats);
  walk(now, stats);
  update_safe_time(now);
}

// Slot by slot: nobody claims any more, and leaked slots can have been freed laps ahead, also by a blip that
// is gone.
void SharedRingReader::collect_rest(DrainStats& stats) {
  std::vector<uint64_t> claimed;
  for (uint64_t i = 0; i < slot_count_; ++i) {
    const uint64_t state = __atomic_load_n(slot(i), __ATOMIC_ACQUIRE);
    if (abi::slot_phase(state) == abi::kSlotFree || slot_is_leaked_[i]) continue;
    const uint64_t ahead = static_cast<uint64_t>(ticket_distance(state, consumed_)) >> abi::kSlotTicketShift;
    if (ahead / slot_count_ <= slot_count_ && slot(consumed_ + ahead) == slot(i))
      claimed.push_back(consumed_ + ahead);
    else
      ++stats.malformed;
  }
  std::sort(claimed.begin(), claimed.end());
  for (uint64_t ticket : claimed) finish_slot(ticket, stats);
  if (!claimed.empty()) consumed_ = claimed.back() + 1;
  __atomic_store_n(&ring_->consumed, consumed_, __ATOMIC_RELEASE);
  revisit_leaked(true, stats);
}

void SharedRingReader::finish_slot(uint64_t ticket, DrainStats& stats) {
  const uint64_t state = __atomic_load_n(slot(ticket), __ATOMIC_ACQUIRE);
  if (abi::slot_phase(state) == abi::kSlotBusy) return give_up(abi::slot_class(state), stats);
  if (abi::slot_phase(state) != abi::kSlotFull) return heal(ticket, stats);
  take(state, ticket, false, stats);
  free_slot(ticket, ticket + slot_count_);
}

void SharedRingReader::walk(uint64_t now, DrainStats& stats) {
  const uint64_t claimed = is_orderly(consumed_) ? consumed_ : end_of_claims(consumed_);
  uint64_t behind = 0;
  for (uint64_t i = 0; i < slot_count_ && pending_.size() < max_pending(); ++i) {
    const Step outcome = step(now, claimed, stats);
    if (outcome == Step::kFree || outcome == Step::kBusy) break;
    behind += outcome == Step::kBehind;
    ++consumed_;
  }
  if (behind == slot_count_)
    consumed_ -= slot_count_;  // every slot is leaked: no reason to run ahead of the writers
  __atomic_store_n(&ring_->consumed, consumed_, __ATOMIC_RELEASE);
  head_free_ = is_free(consumed_) && end_of_claims(consumed_) == consumed_;
}

bool SharedRingReader::is_free(uint64_t ticket) const {
  return __atomic_load_n(slot(ticket), __ATOMIC_ACQUIRE) == abi::slot_state(ticket, 0, abi::kSlotFree);
}

// Claims follow each other, unless a writer that walked over leaked slots can still be on its way.
bool SharedRingReader::is_orderly(uint64_t from) const {
  return static_cast<int64_t>(walked_ahead_ - from) <= 0;
}

// The first ticket not below `from` after which none is claimed. Slots that were leaked can be some laps
// ahead; a ticket further ahead than that is made up.
uint64_t SharedRingReader::end_of_claims(uint64_t from) const {
  uint64_t end = from;
  if (is_orderly(from)) {
    while (end != from + slot_count_ && !is_free(end)) ++end;
    return end;
  }
  for (uint64_t i = 0; i < slot_count_; ++i) {
    const uint64_t state = __atomic_load_n(slot(i), __ATOMIC_ACQUIRE);
    const int64_t distance = ticket_distance(state, end) >> abi::kSlotTicketShift;
    if (abi::slot_phase(state) == abi::kSlotFree || distance < 0) continue;
    const uint64_t ticket = end + static_cast<uint64_t>(distance);
    if (static_cast<int64_t>(walked_ahead_ - ticket) >= 0) end = ticket + 1;
  }
  return end;
}

// A free ticket with claimed ones after it: a writer walked past it while its slot was leaked, and nobody
// will look at it again. Unless a writer claims it at this very moment.
bool SharedRingReader::skip_stranded(uint64_t ticket) {
  uint64_t expected = abi::slot_state(ticket, 0, abi::kSlotFree);
  return __atomic_compare_exchange_n(slot(ticket), &expected,
                                     abi::slot_state(ticket + slot_count_, 0, abi::kSlotFree), false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

SharedRingReader::Step SharedRingReader::step(uint64_t now, uint64_t claimed, DrainStats& stats) {
  const uint64_t ticket = consumed_;
  const uint64_t state = __atomic_load_n(slot(ticket), __ATOMIC_ACQUIRE);
  const int64_t distance = ticket_distance(state, ticket);
  if (distance > 0) return Step::kTaken;
  if (distance < 0) {
    if (slot_is_leaked_[ticket & (slot_count_ - 1)]) return Step::kBehind;
    heal(ticket, stats);
    return Step::kTaken;
  }
  if (state == abi::slot_state(ticket, 0, abi::kSlotFree)) {
    wait_.active = false;
    const bool stranded = static_cast<int64_t>(claimed - ticket) > 0;
    return stranded && skip_stranded(ticket) ? Step::kTaken : Step::kFree;
  }
  if (abi::slot_phase(state) == abi::kSlotFull) {
    take(state, ticket, false, stats);
    free_slot(ticket, ticket + slot_count_);
    return Step::kTaken;
  }
  if (abi::slot_phase(state) != abi::kSlotBusy) {
    heal(ticket, stats);
    return Step::kTaken;
  }
  if (!head_timed_out(now)) return Step::kBusy;
  leaked_.push_back({ticket, abi::slot_class(state)});
  slot_is_leaked_[ticket & (slot_count_ - 1)] = true;
  return Step::kTaken;
}

bool SharedRingReader::head_timed_out(uint64_t now) {
  if (wait_.active && static_cast<int64_t>(wait_.horizon - consumed_) > 0)
    return now > wait_.since + watchdog_;
  // The hint is anyone's word; within the ring it is taken, else only the head itself is waited for.
  const uint64_t ahead = __atomic_load_n(&ring_->tail_hint, __ATOMIC_RELAXED) - consumed_;
  wait_ = {true, now, consumed_ + (ahead <= slot_count_ ? std::max<uint64_t>(ahead, 1) : 1)};
  return false;
}

void SharedRingReader::revisit_leaked(bool last, DrainStats& stats) {
  std::vector<uint64_t> settled;  // places in the window of the head
  std::erase_if(leaked_, [&](const Leaked& leaked) {
    if (!settle_leaked(leaked, last, stats)) return false;
    slot_is_leaked_[leaked.ticket & (slot_count_ - 1)] = false;
    settled.push_back(consumed_ + ((leaked.ticket - consumed_) & (slot_count_ - 1)));
    return true;
  });
  if (last) return;
  std::sort(settled.begin(), settled.end());
  for (uint64_t in_window : settled) free_leaked(in_window);
}

// True when the slot is no longer leaked, and may be freed.
bool SharedRingReader::settle_leaked(const Leaked& leaked, bool last, DrainStats& stats) {
  const uint64_t state = __atomic_load_n(slot(leaked.ticket), __ATOMIC_ACQUIRE);
  if (state == abi::slot_state(leaked.ticket, leaked.class_id, abi::kSlotBusy)) {
    if (last) give_up(leaked.class_id, stats);
    return last;
  }
  if (state == abi::slot_state(leaked.ticket, leaked.class_id, abi::kSlotFull)) {
    if (!last && pending_.size() >= max_pending()) return false;
    take(state, leaked.ticket, true, stats);
  } else {
    ++stats.malformed;
  }
  return true;
}

void SharedRingReader::free_slot(uint64_t ticket, uint64_t next_ticket) {
  __atomic_store_n(slot(ticket), abi::slot_state(next_ticket, 0, abi::kSlotFree), __ATOMIC_RELEASE);
}

// Two laps ahead, and behind every other that was freed like this: no writer has walked past that unless all
// slots were leaked; then only its number of steps limits how far one may have come.
void SharedRingReader::free_leaked(uint64_t in_window) {
  uint64_t next = in_window + 2 * slot_count_;
  if (const auto short_by = static_cast<int64_t>(freed_ahead_ - next); short_by >= 0)
    next += (static_cast<uint64_t>(short_by) / slot_count_ + 1) * slot_count_;
  free_slot(in_window, next);
  freed_ahead_ = next;
  walked_ahead_ = next + 2 * slot_count_ + kExtraReserveSteps;
}

// A state the protocol does not know. Only the target itself can have made it.
void SharedRingReader::heal(uint64_t ticket, DrainStats& stats) {
  ++stats.malformed;
  free_slot(ticket, ticket + slot_count_);
}

// The record's size; 0: its hit word is wrong. What is checked is the copy of that word, and copied once.
uint32_t SharedRingReader::copy_record(uint64_t ticket, uint32_t bounds, uint8_t* to) const {
  const auto* record = reinterpret_cast<const uint8_t*>(slot(ticket) + 1);
  constexpr uint32_t kHead = abi::kHitWordOffset + abi::kHitWordSize;
  const uint32_t first = is_dynamic(bounds) ? kHead : bounds;
  std::memcpy(to, record, first);
  asm volatile("" ::: "memory");
  if (!is_dynamic(bounds)) return bounds;
  uint64_t untrusted_hit_word;
  std::memcpy(&untrusted_hit_word, to + abi::kHitWordOffset, sizeof untrusted_hit_word);
  const uint32_t size = size_of_hit(untrusted_hit_word, bounds);
  if (size > kHead) std::memcpy(to + kHead, record + kHead, size - kHead);
  return size;
}

void SharedRingReader::take(uint64_t state, uint64_t ticket, bool late, DrainStats& stats) {
  const uint16_t class_id = abi::slot_class(state);
  const uint32_t bounds = usable_size(class_id);
  if (bounds == 0) {
    ++stats.malformed;
    return;
  }
  const uint32_t index = acquire_buffer();
  const uint32_t size = copy_record(ticket, bounds, buffer(index));
  if (size == 0) {
    ++stats.malformed;
    free_buffers_.push_back(index);
    return;
  }
  std::memcpy(buffer(index) + pid_offset(), slot(ticket) + 1 + record_capacity_ / sizeof(uint64_t),
              sizeof(uint64_t));
  // From here on only the copy counts, also for the compiler.
  asm volatile("" ::: "memory");
  pending_.push_back({0, taken_++, ticket, index, size, class_id, late});
}

// A record that is taken and not handed out is neither below the ticket nor before the time.
void SharedRingReader::release(abi::SharedReleaseNote note) {
  note.ticket = consumed_;
  for (const Pending& pending : pending_)
    if (static_cast<int64_t>(pending.ticket - note.ticket) < 0) note.ticket = pending.ticket;
  note.time = emitted_;
  released_ = consumed_;
  const uint64_t count = __atomic_load_n(&ring_->release_count, __ATOMIC_RELAXED) + 1;
  ring_->releases[count % 2] = note;
  __atomic_store_n(&ring_->release_count, count, __ATOMIC_RELEASE);
}

void SharedRingReader::give_up(uint16_t class_id, DrainStats& stats) {
  if (usable_size(class_id) == 0) {
    ++stats.malformed;
    return;
  }
  ++discarded_[class_id];
  ++stats.discarded;
}

// What is still to come was claimed after the walk found a free head, so after `now`. With a busy head only a
// mark tells: once all tickets below it are taken, nothing still to come is older than the mark.
void SharedRingReader::update_safe_time(uint64_t now) {
  if (head_free_) {
    safe_ = now;
    mark_.active = false;
    return;
  }
  if (mark_.active && static_cast<int64_t>(consumed_ - mark_.ticket) >= 0) {
    safe_ = mark_.time;
    mark_.active = false;
  }
  if (!mark_.active) mark_ = {true, end_of_claims(consumed_), now};
}

void SharedRingReader::validate_fresh(uint64_t limit, DrainStats& stats) {
  const TimeWindow window{last_, std::max(limit, last_)};
  size_t kept = fresh_;
  for (size_t i = fresh_; i < pending_.size(); ++i) {
    Pending pending = pending_[i];
    if (validate(pending, window, stats))
      pending_[kept++] = pending;
    else
      free_buffers_.push_back(pending.buffer);
  }
  pending_.resize(kept);
  fresh_ = kept;
}

bool SharedRingReader::validate(Pending& pending, const TimeWindow& window, DrainStats& stats) {
  uint64_t header;
  std::memcpy(&header, buffer(pending.buffer), sizeof header);
  if (abi::header_class(header) != pending.class_id) {
    ++stats.malformed;
    return false;
  }
  const uint64_t age = window.age(abi::header_time(header));
  if (window.in_order(age)) {
    pending.time = window.limit - age;
    return true;
  }
  if (pending.late) {
    give_up(pending.class_id, stats);
    return false;
  }
  // Two CPUs' clocks may differ a little.
  if (age - (window.limit - window.last) > kFutureSlack) {
    ++stats.malformed;
    return false;
  }
  pending.time = window.last;
  header = abi::make_header(pending.class_id, window.last);
  std::memcpy(buffer(pending.buffer), &header, sizeof header);
  return true;
}

}  // namespace blip::ring
