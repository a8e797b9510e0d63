// SPDX-License-Identifier: MIT
// Sites in libraries that come and go. A library that has gone took its text with it: there is nothing to
// restore, and what is mapped in its place is somebody else's. But it may come back, and a child of a fork
// may still have it: so its sites are put aside, with the pads, which are good for the same file at the same
// place.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "probe/arm/instrumentation.h"
#include "probe/inject/empty_rings.h"
#include "proc/tracer_thread.h"

namespace blip::probe {

namespace {

bool is_there(const proc::Map& wanted, const std::vector<proc::Map>& maps) {
  const proc::Map* now = proc::find_map(maps, wanted.range.begin);
  return now && now->exec && now->dev == wanted.dev && now->inode == wanted.inode &&
         now->offset + (wanted.range.begin - now->range.begin) == wanted.offset &&
         now->range.end >= wanted.range.end;
}

// Also with somebody's breakpoint on its first byte.
bool holds_jump(const proc::Memory& memory, const Edit& edit) {
  std::array<uint8_t, abi::kMaxEdit> now{};
  const std::span<uint8_t> bytes(now.data(), edit.size);
  if (!memory.read(edit.addr, bytes)) return false;
  const size_t skipped = edit.size > 1 ? 1 : 0;
  return std::equal(bytes.begin() + skipped, bytes.end(), edit.changed.begin() + skipped);
}

// Whether a place that should be patched is, of the first ones in the range; true if there should be none.
bool holds_jumps(const proc::Memory& memory, const PatchTable& table, AddrRange range) {
  constexpr int kTries = 64;
  const std::span<const Edit> edits = table.edits.edits();
  auto it = std::lower_bound(edits.begin(), edits.end(), range.begin,
                             [](const Edit& e, TargetAddr a) { return e.addr < a; });
  int tries = 0;
  for (; it != edits.end() && it->addr < range.end && tries < kTries; ++it) {
    const Patch& patch = table.patches[it->patch];
    if (!patch.active || patch.fresh) continue;
    if (holds_jump(memory, *it)) return true;
    ++tries;
  }
  return tries == 0;
}

}  // namespace

// All threads stand still, none was moved yet.
Status Instrumentation::check_mapped(const std::vector<proc::Map>& maps) {
  if (std::all_of(mapped_.begin(), mapped_.end(), [&](const proc::Map& map) { return is_there(map, maps); }))
    return {};
  for (Patch& patch : table_.patches)
    if (patch.fresh) patch.active = false;
  return Error(ErrorKind::kNotFound, "it was unloaded again");
}

void Instrumentation::forget(AddrRange library, const void* file) {
  std::erase_if(once_here_, [&](const x86::Rewrite& r) { return library.contains(r.start); });
  PatchTable gone = table_.take(library);
  if (!gone.patches.empty()) forgotten_.push_back({library, file, std::move(gone)});
}

// Not by the place alone: another library of the same size may have been there.
Status Instrumentation::revive(AddrRange library, const void* file, std::span<const proc::Map> mapped) {
  const auto it = std::find_if(forgotten_.begin(), forgotten_.end(),
                               [&](const Forgotten& f) { return f.library == library && f.file == file; });
  if (it == forgotten_.end()) return {};
  for (Patch& patch : it->table.patches) patch.fresh = true;
  table_.merge(std::move(it->table));
  forgotten_.erase(it);
  mapped_.assign(mapped.begin(), mapped.end());
  report_.last_paused = {};
  Status status = proc::on_tracer_thread([&] { return patch_patiently(); });
  mapped_.clear();
  for (Patch& patch : table_.patches) patch.fresh = false;
  return status;
}

bool Instrumentation::is_patched(AddrRange library) const { return holds_jumps(memory_, table_, library); }

// Leaves out the libraries that the process does not have, or not any more: by its text, which is what
// counts.
Result<RemovalReport> Instrumentation::remove_from(const proc::Process& process, proc::Memory& memory,
                                                   bool is_child) {
  std::vector<AddrRange> absent = libraries_;
  std::erase_if(absent, [&](const AddrRange& library) { return holds_jumps(memory, table_, library); });
  std::vector<PatchTable> retired = retired_;
  for (const Forgotten& f : forgotten_)
    if (is_child && holds_jumps(memory, f.table, f.library)) retired.push_back(f.table);
  PatchTable some;
  if (!absent.empty()) some = table_;
  for (const AddrRange& library : absent) some.take(library);
  std::optional<OpenCalls> open;
  const auto look = [&]() -> Status {
    if (returns_) open = OpenCalls::read(memory, environment().shadow(), geometry_.class_count);
    return {};
  };
  RemovalSteps steps{.before_unmap = look};
  if (!is_child && are_rings_large(geometry_))
    steps.give_back = [&] {
      if (sharers_.is_alone())
        empty_rings(geometry_, {.fd = region_.data_fd.get(), .here = region(), .there = region_.control});
    };
  auto report = remove_instrumentation(process, memory, footprint(), absent.empty() ? table_ : some, retired,
                                       steps, stops_.max_pause());
  if (report && report->kept) (void)look();
  if (open) open_calls_ += *open;
  if (returns_ && !open) open_calls_.know_nothing();
  return report;
}

}  // namespace blip::probe
