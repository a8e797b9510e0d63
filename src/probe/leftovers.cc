// SPDX-License-Identifier: MIT
#include "probe/leftovers.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "abi/layout.h"
#include "probe/region.h"
#include "probe/removal.h"
#include "proc/attachment.h"
#include "proc/maps.h"
#include "proc/remote_call.h"
#include "proc/status.h"
#include "proc/target_memory.h"
#include "proc/tracer_thread.h"

namespace blip::probe {

namespace {

constexpr uint32_t kMaxSites = 1 << 22;
constexpr std::array<uint8_t, 5> kSetsAction{0xb8, 13, 0, 0, 0};  // mov $rt_sigaction, %eax

bool is_memfd(const proc::Map& map, const char* name) { return map.path == fmt::format("/memfd:{}", name); }

// A trace's data region as found in the target; everything in it is the target's word only.
struct Found {
  const proc::Map* map = nullptr;
  abi::DataHeader untrusted_header{};

  // The region was mapped but not yet described: no site can have been patched.
  bool never_armed() const { return untrusted_header.magic == 0; }
};

Error unusable(const proc::Process& process) {
  return Error(
      ErrorKind::kBusy,
      fmt::format("process {} holds probes of another version of blip, or damaged ones: clean it with that "
                  "version, or restart the process",
                  process.pid()));
}

Result<Found> read_header(const proc::Process& process, const proc::Memory& memory, const proc::Map& map) {
  Found found{.map = &map};
  TRY(found.untrusted_header, memory.read_value<abi::DataHeader>(map.range.begin));
  const abi::DataHeader& h = found.untrusted_header;
  if (found.never_armed()) return found;
  const bool usable = h.magic == abi::kMagic && h.version == abi::kVersion && h.site_count <= kMaxSites &&
                      h.pad_file_count <= abi::kMaxPadFiles &&
                      h.sites_offset + uint64_t{h.site_count} * sizeof(abi::SiteEntry) <= map.range.size();
  if (!usable) return unusable(process);
  return found;
}

Status check_owner(const abi::DataHeader& header) {
  const pid_t owner = header.owner_pid;
  if (owner <= 0) return {};
  if (header.owner_pid_namespace != own_pid_namespace())
    return Error(
        ErrorKind::kBusy,
        fmt::format("traced by a blip in another pid namespace (pid {} there): end that one first", owner));
  auto stat = proc::read_stat(owner, owner);
  if (!stat || stat->start_time != header.owner_start_time || stat->state == 'Z') return {};
  return Error(ErrorKind::kBusy, fmt::format("already traced by blip (pid {}): end that one first", owner));
}

bool plausible(const abi::SiteEntry& e) {
  return e.size != 0 && e.size <= e.length && e.length <= abi::kMaxEdit &&
         e.addr / abi::kPageSize == (e.addr + e.size - 1) / abi::kPageSize;
}

// Where the entry's jump leads; nothing if it is not one to a place of its own.
TargetAddr jump_target(const abi::SiteEntry& e) {
  int32_t distance;
  if (e.length < sizeof distance + 1) return {};
  std::memcpy(&distance, e.changed + e.length - sizeof distance, sizeof distance);
  return TargetAddr(e.addr + e.length + static_cast<uint64_t>(int64_t{distance}));
}

// A place may have been probed more than once: of two entries for the same bytes, the one that the text does
// not hold is history.
void forget_history(const proc::Memory& memory, std::vector<abi::SiteEntry>& sorted) {
  const auto in_text = [&](const abi::SiteEntry& e) {
    std::array<uint8_t, abi::kMaxEdit> now;
    const std::span<uint8_t> bytes(now.data(), e.size);
    return memory.read(TargetAddr(e.addr), bytes) && std::equal(bytes.begin(), bytes.end(), e.changed);
  };
  std::vector<abi::SiteEntry> kept;
  for (const abi::SiteEntry& entry : sorted) {
    const bool overlaps = !kept.empty() && entry.addr < kept.back().addr + kept.back().size;
    if (!overlaps) {
      kept.push_back(entry);
    } else if (!in_text(kept.back())) {
      kept.back() = entry;
    }
  }
  sorted = std::move(kept);
}

// One patch for each edit. Only places that really hold what the table says are restored, so the table is
// checked by the text itself.
Result<PatchTable> read_patches(const proc::Memory& memory, const Found& found) {
  const abi::DataHeader& header = found.untrusted_header;
  std::vector<abi::SiteEntry> entries(header.site_count);
  std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(entries.data()),
                           entries.size() * sizeof(abi::SiteEntry));
  TRY_OK(memory.read(found.map->range.begin + header.sites_offset, bytes));
  std::erase_if(entries, [](const abi::SiteEntry& e) { return !plausible(e); });
  std::sort(entries.begin(), entries.end(),
            [](const abi::SiteEntry& a, const abi::SiteEntry& b) { return a.addr < b.addr; });
  forget_history(memory, entries);
  PatchTable table;
  std::vector<Edit> edits;
  for (const abi::SiteEntry& entry : entries) {
    Edit edit{.addr = TargetAddr(entry.addr),
              .pad = TargetAddr(entry.pad_addr),
              .patch = static_cast<uint32_t>(table.patches.size()),
              .order = entry.order,
              .size = entry.size,
              .length = entry.length,
              .window = entry.window};
    std::copy_n(entry.original, abi::kMaxEdit, edit.original.begin());
    std::copy_n(entry.changed, abi::kMaxEdit, edit.changed.begin());
    Patch patch{.addr = edit.addr, .window = edit.window};
    if (edit.is_short_jump()) patch.springboard = edit.short_target();
    if (edit.window != 0) patch.pad = edit.pad;
    patch.trap = edit.length == 1;
    patch.sets_action = std::equal(kSetsAction.begin(), kSetsAction.end(), edit.original.begin());
    if (const TargetAddr to = jump_target(entry); edit.window != 0 && to != edit.pad) patch.entry = to;
    edits.push_back(edit);
    table.patches.push_back(std::move(patch));
  }
  table.edits = EditSet(std::move(edits));
  return table;
}

bool is_private(const proc::Map& map) { return map.write && !map.exec && !map.file_backed(); }

// A size in the header, if it can be one.
uint64_t plausible_size(uint64_t untrusted_size) {
  constexpr uint64_t kMost = uint64_t{1} << 30;
  return untrusted_size % abi::kPageSize == 0 && untrusted_size < kMost ? untrusted_size : 0;
}

// How much private memory of blip's lies below the data: the gate page, and what is below it, whose size the
// header tells; mapped together, and split by what was done to the gate page. 0: neither is there yet.
uint64_t size_below(const std::vector<proc::Map>& maps, TargetAddr control, const abi::DataHeader& header) {
  const uint64_t copied = plausible_size(header.trap_size) + plausible_size(header.shadow_size);
  const AddrRange gate{control - abi::kGatePageSize, control};
  const AddrRange whole{gate.begin - copied, control};
  const auto any = [&](auto fits) {
    return std::any_of(maps.begin(), maps.end(),
                       [&](const proc::Map& m) { return is_private(m) && fits(m.range); });
  };
  if (any([&](const AddrRange& r) { return r == whole; })) return whole.size();
  if (!any([&](const AddrRange& r) { return r == gate; })) return 0;
  const bool split = any([&](const AddrRange& r) { return r.begin <= whole.begin && r.end == gate.begin; });
  return split ? whole.size() : gate.size();
}

// What one dead blip left: its data region and the pads its header names.
Status clean_region(const proc::Process& process, proc::Memory& memory, const std::vector<proc::Map>& maps,
                    const Found& found, std::vector<const proc::Map*>& pads, size_t& sites) {
  Footprint footprint{.control = found.map->range.begin, .data_size = found.map->range.size()};
  const uint64_t below = size_below(maps, footprint.control, found.untrusted_header);
  footprint.has_gate = below != 0;
  if (below > abi::kGatePageSize) {
    footprint.trap_size = plausible_size(found.untrusted_header.trap_size);
    footprint.shadow_size = plausible_size(found.untrusted_header.shadow_size);
  }
  PatchTable table;
  const abi::DataHeader& header = found.untrusted_header;
  if (!found.never_armed()) {
    TRY_OK(check_owner(header).with_context(fmt::format("process {}", process.pid())));
    TRY(table, read_patches(memory, found));
    const auto files = std::span(header.pad_files).first(header.pad_file_count);
    std::erase_if(pads, [&](const proc::Map* map) {
      const bool mine = std::find(files.begin(), files.end(), map->inode) != files.end();
      if (mine) footprint.areas.push_back(map->range);
      return mine;
    });
  }
  TRY(const RemovalReport report, remove_instrumentation(process, memory, footprint, table));
  if (report.kept)
    return Error(ErrorKind::kBusy,
                 fmt::format("process {} still holds the memory of a blip that was killed: {}", process.pid(),
                             report.kept_reason));
  sites += static_cast<size_t>(std::count_if(table.patches.begin(), table.patches.end(),
                                             [](const Patch& p) { return p.window != 0; }));
  return {};
}

std::vector<int> left_over_fds(const proc::Process& process) {
  std::vector<int> fds;
  for (const char* name : {abi::kDataMemfdName, abi::kPadsMemfdName}) {
    const auto found = proc::find_target_fds(process.pid(), fmt::format("/memfd:{} (deleted)", name));
    fds.insert(fds.end(), found.begin(), found.end());
  }
  return fds;
}

// A blip closes its descriptors within the stop that made them: one that is seen now belongs to nobody.
Status close_fds(const proc::Process& process, proc::Memory& memory) {
  TRY(const std::vector<proc::Map> maps, proc::read_maps(process.pid()));
  TRY(proc::StubSite stub, proc::find_stub_site(memory, maps));
  TRY(proc::Attachment attachment, proc::Attachment::stop_all(process));
  TRY(proc::RemoteCaller caller, proc::RemoteCaller::create(attachment, memory, std::move(stub)));
  for (int fd : left_over_fds(process)) TRY_OK(proc::remote_close(caller, fd));
  return {};
}

}  // namespace

Status discard_unarmed(proc::RemoteCaller& caller, const proc::Process& process, const proc::Memory& memory) {
  for (int fd : left_over_fds(process)) TRY_OK(proc::remote_close(caller, fd));
  TRY(const std::vector<proc::Map> maps, proc::read_maps(process.pid()));
  for (const proc::Map& map : maps) {
    const bool data = is_memfd(map, abi::kDataMemfdName);
    if (!data && !is_memfd(map, abi::kPadsMemfdName)) continue;
    uint64_t below = 0;
    if (data) {
      TRY(const auto header, memory.read_value<abi::DataHeader>(map.range.begin));
      below = size_below(maps, map.range.begin, header);
    }
    TRY_OK(proc::remote_munmap(caller, map.range.begin - below, map.range.size() + below));
  }
  return {};
}

Result<std::optional<std::string>> clean_leftovers(const proc::Process& process, proc::Memory& memory) {
  TRY(const std::vector<proc::Map> maps, proc::read_maps(process.pid()));
  std::vector<const proc::Map*> pads;
  std::vector<Found> regions;
  for (const proc::Map& map : maps) {
    if (is_memfd(map, abi::kPadsMemfdName)) pads.push_back(&map);
    if (!is_memfd(map, abi::kDataMemfdName)) continue;
    TRY(Found found, read_header(process, memory, map));
    regions.push_back(found);
  }
  const bool fds = !left_over_fds(process).empty();
  if (regions.empty() && pads.empty() && !fds) return std::optional<std::string>();
  size_t sites = 0;
  for (const Found& found : regions) TRY_OK(clean_region(process, memory, maps, found, pads, sites));
  // Pads without a description were mapped, but never led to.
  if (!pads.empty()) {
    Footprint footprint;
    for (const proc::Map* map : pads) footprint.areas.push_back(map->range);
    auto report = remove_instrumentation(process, memory, footprint, {});
    if (!report) return report.error();
  }
  if (fds) TRY_OK(proc::on_tracer_thread([&] { return close_fds(process, memory); }));
  return std::optional(fmt::format("cleaned up after a blip that was killed ({} probes)", sites));
}

}  // namespace blip::probe
