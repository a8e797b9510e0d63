// SPDX-License-Identifier: MIT
#include "probe/inject/ring_filler.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/quiet_thread.h"

namespace blip::probe {

namespace {

constexpr uint64_t kPiece = 1 << 20;  // under a millisecond of work
constexpr size_t kPagesAtOnce = 256;

}  // namespace

// The kernel fills the page tables of the process whose memory is read. Pages of shared memory are mapped
// writable by that: a write does not fault again.
void fault_in(const proc::Memory& memory, AddrRange range) {
  std::array<uint8_t, kPagesAtOnce> bytes;
  std::vector<proc::ReadRequest> requests;
  for (TargetAddr page = range.begin; page < range.end; page = page + abi::kPageSize) {
    requests.push_back({page, {&bytes[requests.size()], 1}});
    if (requests.size() < kPagesAtOnce && page + abi::kPageSize < range.end) continue;
    if (!memory.read_all(requests)) return;
    requests.clear();
  }
}

Status allocate(int fd, uint64_t offset, uint64_t size) {
  if (::fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(size)) == 0) return {};
  return Error::from_errno(errno, fmt::format("allocating {} KiB of buffers", size / 1024));
}

RingFiller::RingFiller(const abi::Geometry& geometry, const ring::FirstRoom& room,
                       std::vector<unsigned> rings, const RegionView& region, const proc::Memory& target)
    : geometry_(geometry), room_(room), region_(region), target_(target) {
  for (const unsigned ring : rings) rings_.push_back({ring, room.end});
  const auto run = [this] {
    const Status status = fill_all();
    if (status) return;
    error_ = status.error();
    failed_.store(true, std::memory_order_release);
  };
  thread_ = start_quiet_thread(run);
  if (!thread_.joinable()) run();  // no more threads may be made
}

void RingFiller::stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

std::optional<Error> RingFiller::error() const {
  return failed_.load(std::memory_order_acquire) ? error_ : std::nullopt;
}

Status RingFiller::fill_all() {
  const auto has_all = [&](const Growing& growing) { return growing.end == geometry_.ring_size(); };
  while (!stopping_ && !std::all_of(rings_.begin(), rings_.end(), has_all)) TRY_OK(fill_next());
  // The beginning, which writers come to after a whole lap.
  for (const Growing& growing : rings_) TRY_OK(fill(growing.ring, 0, room_.start));
  if (!stopping_) complete_.store(true, std::memory_order_release);
  return {};
}

Status RingFiller::fill_next() {
  Growing* next = nullptr;
  for (Growing& growing : rings_) {
    if (growing.end == geometry_.ring_size()) continue;
    if (!next || left_in(growing) < left_in(*next)) next = &growing;
  }
  TRY_OK(fill(next->ring, next->end, next->end + geometry_.subbuf_size));
  if (stopping_) return {};
  next->end += geometry_.subbuf_size;
  ring::announce_room(geometry_, next->end, control(next->ring));
  return {};
}

// What the target says of itself decides only who is first.
uint64_t RingFiller::left_in(const Growing& growing) const {
  const uint64_t untrusted_pos = __atomic_load_n(&control(growing.ring).pos, __ATOMIC_RELAXED);
  return growing.end - std::min(untrusted_pos, growing.end);
}

Status RingFiller::fill(unsigned ring, uint64_t begin, uint64_t end) {
  const uint64_t offset = geometry_.ring_data_offset() + ring * geometry_.ring_size();
  for (uint64_t at = begin; at < end && !stopping_; at += kPiece) {
    const uint64_t size = std::min(kPiece, end - at);
    TRY_OK(allocate(region_.fd, offset + at, size));
    const TargetAddr there = region_.there + offset + at;
    fault_in(target_, {there, there + size});
  }
  return {};
}

abi::RingControl& RingFiller::control(unsigned ring) const {
  return reinterpret_cast<abi::RingControl*>(region_.here + abi::kRingControlsOffset)[ring];
}

}  // namespace blip::probe
