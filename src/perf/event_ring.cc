// SPDX-License-Identifier: MIT
#include "perf/event_ring.h"

#include <unistd.h>

#include <utility>

namespace blip::perf {

Result<EventRing> EventRing::create(const Fd& event, size_t pages) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  TRY(Mapping mapping,
      Mapping::create((pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, event.get(), 0));
  return EventRing(std::move(mapping));
}

EventRing::EventRing(Mapping mapping) : mapping_(std::move(mapping)) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  data_ = mapping_.data() + page;
  size_ = mapping_.size() - page;
}

std::span<const uint8_t> EventRing::bytes(uint64_t at, size_t size) {
  const uint64_t first = at % size_;
  if (first + size <= size_) return {data_ + first, size};
  whole_.resize(size);
  const size_t head = size_ - first;
  std::memcpy(whole_.data(), data_ + first, head);
  std::memcpy(whole_.data() + head, data_, size - head);
  return whole_;
}

}  // namespace blip::perf
