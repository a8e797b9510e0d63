// SPDX-License-Identifier: MIT
#include "ring/reader.h"

#include "base/check.h"
#include "ring/format.h"

namespace blip::ring {
namespace {

constexpr uint64_t kChunkSize = 1 << 16;

constexpr uint64_t align_down(uint64_t n) { return n & ~uint64_t{abi::kRecordAlign - 1}; }

// `consumed` of a ring that is growing says something else.
uint64_t first_position(const abi::RingControl& control, bool growing) {
  if (growing && control.release_count != 0) return control.releases[control.release_count % 2].pos;
  return __atomic_load_n(&control.consumed, __ATOMIC_RELAXED);
}

}  // namespace

RingReader::RingReader(const abi::Geometry& geometry, uint8_t* region, uint32_t ring,
                       std::span<const uint32_t> record_sizes, uint64_t start_tsc,
                       const std::atomic<bool>* complete)
    : control_(reinterpret_cast<abi::RingControl*>(region + abi::kRingControlsOffset) + ring),
      data_(region + geometry.ring_data_offset() + geometry.ring_size() * ring),
      ring_size_(geometry.ring_size()),
      subbuf_size_(geometry.subbuf_size),
      sizes_(record_sizes),
      consumed_(align_down(first_position(*control_, complete != nullptr))),
      released_(consumed_),
      growing_(complete),
      window_{start_tsc, start_tsc},
      chunk_(std::min<uint64_t>(kChunkSize, geometry.subbuf_size)) {
  CHECK(is_valid(geometry) && geometry.subbuf_size != 0 && ring < geometry.ring_count);
  for (uint32_t size : sizes_) CHECK(is_valid_size(size));
  CHECK(sizes_.empty() || sizes_[abi::kPaddingClass] == 0);
}

uint64_t RingReader::backlog() const {
  const uint64_t pos = __atomic_load_n(&control_->pos, __ATOMIC_RELAXED);
  return std::min(pos - consumed_, ring_size_);
}

std::optional<uint64_t> RingReader::head() const {
  const uint64_t pos = __atomic_load_n(&control_->pos, __ATOMIC_ACQUIRE);
  if (!plausible(pos)) return std::nullopt;
  return pos;
}

// A hit is discarded where the sub-buffer after its own is not free. Until something is released the head
// stays where that happened, so that this look still finds it.
bool RingReader::may_be_full() const {
  if (growing_) return true;  // it has less room than it will have
  const uint64_t used = __atomic_load_n(&control_->pos, __ATOMIC_RELAXED) - released_;
  return used + 2 * subbuf_size_ > ring_size_;
}

bool RingReader::plausible(uint64_t pos) const {
  return pos % abi::kRecordAlign == 0 && pos - consumed_ <= ring_size_;
}

// Nobody knows what lies between; start over where the target says it is.
void RingReader::resync(uint64_t pos, DrainStats& stats) {
  ++stats.malformed;
  released_ = consumed_ = align_down(pos);
  give_back(consumed_);
}

// While the ring grows `consumed` is not the reader's, and the note tells how far it has come.
void RingReader::give_back(uint64_t pos) {
  if (!growing_) return __atomic_store_n(&control_->consumed, pos, __ATOMIC_RELEASE);
  const uint64_t count = __atomic_load_n(&control_->release_count, __ATOMIC_RELAXED);
  __atomic_store_n(&control_->releases[count % 2].pos, pos, __ATOMIC_RELEASE);
}

void RingReader::note_growth() {
  if (!growing_->load(std::memory_order_acquire)) return;
  growing_ = nullptr;
  give_back(holds_ ? released_ : consumed_);
  if (!holds_) __atomic_store_n(&control_->release_count, 0, __ATOMIC_RELEASE);
}

void RingReader::drained_to(uint64_t pos) {
  consumed_ = pos;
  if (holds_) return;
  released_ = consumed_;
  give_back(consumed_);
}

void RingReader::release(abi::ReleaseNote note) {
  if (released_ == consumed_) return;
  note.pos = released_ = consumed_;
  // The note before stays whole until this one is; writers may have the room when it is.
  const uint64_t count = __atomic_load_n(&control_->release_count, __ATOMIC_RELAXED) + 1;
  control_->releases[count % 2] = note;
  __atomic_store_n(&control_->release_count, count, __ATOMIC_RELEASE);
  give_back(consumed_);
}

RingReader::Run RingReader::copy_chunk(uint64_t pos) {
  const uint64_t to_boundary = subbuf_size_ - (consumed_ & (subbuf_size_ - 1));
  const uint64_t published = pos - consumed_;
  const uint64_t size = std::min({published, to_boundary, uint64_t{chunk_.size()}});
  std::memcpy(chunk_.data(), data_ + (consumed_ & (ring_size_ - 1)), size);
  // From here on only the copy counts, also for the compiler: it must not read the shared bytes again.
  asm volatile("" ::: "memory");
  return {consumed_ + std::min(published, to_boundary), static_cast<uint32_t>(size),
          published >= to_boundary};
}

// The slow path of walk(): kEnd means "go on, the time was evened out".
RingReader::Stop RingReader::classify(uint32_t offset, uint32_t size, uint32_t available, bool more_follows) {
  uint64_t header;
  std::memcpy(&header, &chunk_[offset], sizeof header);
  if (abi::header_class(header) == abi::kPaddingClass) return Stop::kPadding;
  if (size == 0) return Stop::kBad;
  if (size > available) return more_follows ? Stop::kMore : Stop::kBad;
  if (!window_.reordered(window_.age(abi::header_time(header)))) return Stop::kBad;
  header = abi::make_header(abi::header_class(header), window_.last);
  std::memcpy(&chunk_[offset], &header, sizeof header);
  return Stop::kEnd;
}

void RingReader::advance(const Run& run, Walked walked, DrainStats& stats) {
  const uint64_t reached = consumed_ + walked.offset;
  const bool padded = walked.stop == Stop::kPadding && run.whole_subbuf;
  // A whole sub-buffer ends with a padding header, never with a record.
  const bool unpadded_end = walked.stop == Stop::kEnd && run.whole_subbuf && reached == run.run_end;
  const bool bad = walked.stop == Stop::kBad || (walked.stop == Stop::kPadding && !padded) || unpadded_end;
  if (bad) {
    ++stats.malformed;
    stats.malformed_bytes += run.run_end - reached;
  }
  drained_to(bad || padded ? run.run_end : reached);
}

}  // namespace blip::ring
