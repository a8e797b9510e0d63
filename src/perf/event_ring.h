// SPDX-License-Identifier: MIT
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/fd.h"
#include "base/mapping.h"
#include "base/result.h"

namespace blip::perf {

// A ring that the kernel writes the records of perf events into, in the order of time on one CPU.
class EventRing {
 public:
  // Of an event; others of the same CPU may write into it too (PERF_EVENT_IOC_SET_OUTPUT). `pages` of data: a power of two.
  static Result<EventRing> create(const Fd& event, size_t pages);

  // Calls sink(const perf_event_header&, std::span<const uint8_t> body) for every record; returns the bytes.
  template <class Sink>
  uint64_t drain(const Sink& sink);
  // The same for records that a drain will bring again.
  template <class Sink>
  void look(const Sink& sink);

 private:
  explicit EventRing(Mapping mapping);

  // Calls visit(header, body, end) for every record from `at` on.
  template <class Visit>
  uint64_t visit(uint64_t at, const Visit& visit);
  perf_event_mmap_page& control() const { return *reinterpret_cast<perf_event_mmap_page*>(mapping_.data()); }
  std::span<const uint8_t> bytes(uint64_t at, size_t size);

  Mapping mapping_;
  const uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
  std::vector<uint8_t> whole_;  // a record that goes on at the ring's beginning
};

template <class Visit>
uint64_t EventRing::visit(uint64_t at, const Visit& visit) {
  const uint64_t begin = at;
  const uint64_t end = __atomic_load_n(&control().data_head, __ATOMIC_ACQUIRE);
  while (end - at >= sizeof(perf_event_header)) {
    perf_event_header header;
    std::memcpy(&header, bytes(at, sizeof header).data(), sizeof header);
    if (header.size < sizeof header || header.size > end - at) break;
    at += header.size;
    visit(header, bytes(at - header.size, header.size).subspan(sizeof header), at);
  }
  return at - begin;
}

template <class Sink>
uint64_t EventRing::drain(const Sink& sink) {
  return visit(control().data_tail, [&](const auto& header, auto body, uint64_t end) {
    sink(header, body);
    __atomic_store_n(&control().data_tail, end, __ATOMIC_RELEASE);
  });
}

template <class Sink>
void EventRing::look(const Sink& sink) {
  visit(control().data_tail, [&](const auto& header, auto body, uint64_t) { sink(header, body); });
}

}  // namespace blip::perf
