// SPDX-License-Identifier: MIT
#include "probe/arm/range_feed.h"

#include <algorithm>

#include "probe/code/watched_syscalls.h"
#include "probe/inject/left_region.h"
#include "probe/inject/readable_memory.h"
#include "proc/files/guard_pages.h"
#include "proc/files/maps.h"

namespace blip::probe {

namespace {

constexpr std::chrono::milliseconds kLeastPause{10};
constexpr int kPausePerLook = 20;  // looking takes at most a twentieth of the time

bool has_code(std::span<const Module> modules, const proc::Map& map) {
  return std::any_of(modules.begin(), modules.end(), [&](const Module& m) {
    const auto text = m.text();
    return m.path() == map.path &&
           std::any_of(text.begin(), text.end(), [&](const AddrRange& r) { return r.overlaps(map.range); });
  });
}

// What the kernel or blip put there.
bool is_known_code(const proc::Map& map) {
  return map.path == "[vdso]" || map.path == "[vsyscall]" || is_pad_memory(map);
}

}  // namespace

RangeFeed::RangeFeed(const proc::Process& process, const proc::Memory& memory,
                     std::span<const Module> modules, const Instrumentation& instrumentation)
    : process_(process), memory_(memory), modules_(modules), obstacle_(instrumentation.no_ranges()) {
  if (obstacle_.empty()) publisher_.emplace(instrumentation.geometry(), instrumentation.region());
}

void RangeFeed::refresh() {
  if (!obstacle_.empty() || Clock::now() < next_) return;
  const uint64_t misses = publisher_->misses();
  if (!first_ && misses == misses_) return;
  const auto start = Clock::now();
  look();
  next_ = Clock::now() + std::max<Clock::duration>(kLeastPause, kPausePerLook * (Clock::now() - start));
}

// Misses of before the look: those that come meanwhile ask for another one.
void RangeFeed::look() {
  const uint64_t misses = publisher_->misses();
  if (publisher_->is_closed()) {
    obstacle_ = "the program makes code at run time, or has come under a seccomp filter";
    return;
  }
  const auto look = publisher_->begin();
  if (!look) return;
  if (auto status = publish(*look); !status) {
    if (status.error().kind() != ErrorKind::kBusy) obstacle_ = status.error().message();
    return;
  }
  first_ = false;
  misses_ = misses;
}

Status RangeFeed::publish(const ring::RangePublisher::Look& look) {
  TRY(const std::vector<proc::Map> maps, proc::read_maps(process_.pid()));
  TRY_OK(check_code(maps));
  std::vector<Module> modules(modules_.begin(), modules_.end());
  modules.insert(modules.end(), late_modules_.begin(), late_modules_.end());
  const ReadableMemory memory = readable_memory(maps, modules);
  TRY(const auto guards, proc::guard_pages(process_.pid(), memory.ranges));
  if (!guards) return Error(ErrorKind::kUnsupported, "the kernel cannot tell where guard pages are");
  if (!publisher_->publish(look, without(memory.ranges, *guards), memory.heap_end))
    return Error(ErrorKind::kBusy, "the program takes memory away");
  ++published_;
  return {};
}

// The same file at the same place; what was written to since is found at the next look at it, if at all.
bool RangeFeed::is_known(const proc::Map& map) const {
  return std::any_of(known_.begin(), known_.end(), [&](const proc::Map& k) {
    return k.range == map.range && k.dev == map.dev && k.inode == map.inode && k.offset == map.offset;
  });
}

// Code that is no file's may do anything.
Status RangeFeed::check_code(std::span<const proc::Map> maps) {
  std::vector<proc::Map> code;
  for (const proc::Map& map : maps) {
    if (!map.exec || is_known_code(map) || is_known(map)) continue;
    if (!map.file_backed()) return Error(ErrorKind::kUnsupported, "the program makes code at run time");
    if (first_ && has_code(modules_, map))
      known_.push_back(map);  // these calls are watched
    else
      code.push_back(map);
  }
  return code.empty() ? Status() : look_at_new(code, maps);
}

// Libraries that came later are looked at once.
Status RangeFeed::look_at_new(std::span<const proc::Map> code, std::span<const proc::Map> maps) {
  TRY(LoadedModules loaded, load_modules(process_, memory_, maps, files_));
  for (const proc::Map& map : code) {
    const auto module = std::find_if(loaded.modules.begin(), loaded.modules.end(), [&](const Module& m) {
      return has_code({&m, 1}, map);
    });
    if (module == loaded.modules.end())
      return Error(ErrorKind::kUnsupported, "there is code that blip cannot read");
    if (const std::string calls = syscalls_of_its_own(*module); !calls.empty())
      return Error(ErrorKind::kUnsupported, calls);
    std::erase_if(late_modules_, [&](const Module& m) { return m.extent().overlaps(module->extent()); });
    std::erase_if(known_, [&](const proc::Map& k) { return k.range.overlaps(map.range); });
    late_modules_.push_back(*module);
    known_.push_back(map);
  }
  return {};
}

}  // namespace blip::probe
