// SPDX-License-Identifier: MIT
#include <algorithm>
#include <fstream>

#include "proc/files/maps.h"

// Free addresses are what lies between the mappings once each has been widened by the room it must keep:
//
//     [heap]  ----128 MiB--->              <--1 MiB-- [stack:TID]            <---128 MiB--- [stack]
//
// Inside each free range the position nearest to the middle of the window is a clamp.

namespace blip::proc {

namespace {

constexpr uint64_t kLowestAddress = 0x10000;          // vm.mmap_min_addr of every distribution
constexpr uint64_t kHighestAddress = 0x7ffffffff000;  // the kernel keeps the last page of the lower half free
constexpr uint64_t kGrowthRoom = uint64_t{128} << 20;  // RLIMIT_STACK is 8 MiB, brk starts small
constexpr uint64_t kStackGuard = uint64_t{1} << 20;    // the kernel's stack_guard_gap

constexpr uint64_t round_up(uint64_t n) { return (n + kPageSize - 1) & ~(kPageSize - 1); }
constexpr uint64_t round_down(uint64_t n) { return n & ~(kPageSize - 1); }

uint64_t room_below(const Map& map) {
  if (map.path == "[stack]") return kGrowthRoom;
  return map.path.starts_with("[stack") ? kStackGuard : 0;
}

uint64_t room_above(const Map& map) { return map.path == "[heap]" ? kGrowthRoom : 0; }

uint64_t distance(uint64_t a, uint64_t b) { return a < b ? b - a : a - b; }

class Search {
 public:
  Search(uint64_t size, AddrRange window)
      : size_(round_up(size)),
        low_(round_up(std::max(window.begin.value, kLowestAddress))),
        high_(round_down(std::min(window.end.value, kHighestAddress))),
        wanted_(round_down(window.begin.value + window.size() / 2)) {}

  // [begin, end) holds no mapping; takes its best position if that beats what was found before.
  void consider(uint64_t begin, uint64_t end) {
    begin = std::max(begin, low_);
    end = std::min(end, high_);
    if (begin >= end || end - begin < size_) return;
    const uint64_t position = std::clamp(wanted_ - std::min(size_ / 2, wanted_), begin, end - size_);
    const uint64_t aligned = round_down(position);
    if (!best_ || distance_of(aligned) < distance_of(best_->value)) best_ = TargetAddr(aligned);
  }
  std::optional<TargetAddr> best() const { return best_; }

 private:
  uint64_t distance_of(uint64_t position) const { return distance(position + size_ / 2, wanted_); }

  uint64_t size_;
  uint64_t low_;
  uint64_t high_;
  uint64_t wanted_;
  std::optional<TargetAddr> best_;
};

}  // namespace

std::vector<AddrRange> free_ranges(std::span<const Map> maps) {
  std::vector<AddrRange> free;
  uint64_t from = kLowestAddress;
  const auto add = [&](uint64_t end) {
    end = round_down(std::min(end, kHighestAddress));
    if (from < end) free.push_back({TargetAddr(from), TargetAddr(end)});
  };
  for (const Map& map : maps) {
    add(map.range.begin.value - std::min(room_below(map), map.range.begin.value));
    from = std::max(from, round_up(map.range.end.value) + room_above(map));
  }
  add(kHighestAddress);
  return free;
}

std::optional<TargetAddr> find_gap(std::span<const Map> maps, uint64_t size, AddrRange window) {
  if (size == 0 || size > kHighestAddress || window.empty()) return std::nullopt;
  Search search(size, window);
  for (const AddrRange& range : free_ranges(maps)) search.consider(range.begin.value, range.end.value);
  return search.best();
}

size_t max_map_count() {
  constexpr size_t kDefault = 65530;
  size_t count = 0;
  std::ifstream file("/proc/sys/vm/max_map_count");
  return file >> count ? count : kDefault;
}

}  // namespace blip::proc
