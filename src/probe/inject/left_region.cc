// SPDX-License-Identifier: MIT
#include "probe/inject/left_region.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "proc/files/status.h"

namespace blip::probe {

namespace {

constexpr uint32_t kMaxSites = 1 << 22;
constexpr std::array<uint8_t, 5> kSetsAction{0xb8, 13, 0, 0, 0};  // mov $rt_sigaction, %eax

bool is_memfd(const proc::Map& map, const char* name) { return map.path == fmt::format("/memfd:{}", name); }

Error unusable(const proc::Process& process) {
  return Error(
      ErrorKind::kBusy,
      fmt::format("process {} holds probes of another version of blip, or damaged ones: clean it with that "
                  "version, or restart the process",
                  process.pid()));
}

bool plausible(const abi::SiteEntry& e) {
  return e.size != 0 && e.size <= e.length && e.length <= abi::kMaxEdit &&
         e.addr / abi::kPageSize == (e.addr + e.size - 1) / abi::kPageSize;
}

// Returns the target of the entry's jump; nothing if it does not lead to a place of its own.
TargetAddr jump_target(const abi::SiteEntry& e) {
  int32_t distance;
  if (e.length < sizeof distance + 1) return {};
  std::memcpy(&distance, e.changed + e.length - sizeof distance, sizeof distance);
  return TargetAddr(e.addr + e.length + static_cast<uint64_t>(int64_t{distance}));
}

// A place may have been probed more than once: of two entries for the same bytes, the one that the text does
// not hold is history.
Status forget_history(const proc::Memory& memory, std::vector<abi::SiteEntry>& sorted) {
  std::vector<abi::SiteEntry> kept;
  for (const abi::SiteEntry& entry : sorted) {
    const bool overlaps = !kept.empty() && entry.addr < kept.back().addr + kept.back().size;
    if (!overlaps) {
      kept.push_back(entry);
      continue;
    }
    TRY(const bool stands, is_in_text(memory, kept.back()));
    if (!stands) kept.back() = entry;
  }
  sorted = std::move(kept);
  return {};
}

// Neither the jump is there, be it with a breakpoint on top, nor what was there before it: the library has
// gone, and maybe another one has come. What is mapped and cannot be read may be a jump, whose pad must stay.
Result<bool> is_of_the_past(const proc::Memory& memory, std::span<const proc::Map> maps,
                            const abi::SiteEntry& entry) {
  std::array<uint8_t, abi::kMaxEdit> now{};
  const std::span<uint8_t> bytes(now.data(), entry.size);
  if (const Status read = memory.read(TargetAddr(entry.addr), bytes); !read) {
    if (proc::find_map(maps, TargetAddr(entry.addr))) return read.error();
    return true;
  }
  const size_t first = entry.size > 1 ? 1 : 0;
  return !std::equal(bytes.begin(), bytes.end(), entry.original) &&
         !std::equal(bytes.begin() + first, bytes.end(), entry.changed + first);
}

Edit edit_of(const abi::SiteEntry& entry, uint32_t patch) {
  Edit edit{.addr = TargetAddr(entry.addr),
            .pad = TargetAddr(entry.pad_addr),
            .patch = patch,
            .order = entry.order,
            .size = entry.size,
            .length = entry.length,
            .window = entry.window};
  std::copy_n(entry.original, abi::kMaxEdit, edit.original.begin());
  std::copy_n(entry.changed, abi::kMaxEdit, edit.changed.begin());
  return edit;
}

// A size in the header, if it can be one.
uint64_t plausible_size(uint64_t untrusted_size) {
  constexpr uint64_t kMost = uint64_t{1} << 30;
  return untrusted_size % abi::kPageSize == 0 && untrusted_size < kMost ? untrusted_size : 0;
}

bool is_private(const proc::Map& map) { return map.write && !map.exec && !map.file_backed(); }

}  // namespace

ring::RegionView view_of(const proc::Memory& memory, AddrRange region) {
  return {region.size(), [&memory, begin = region.begin](uint64_t offset, std::span<uint8_t> to) {
            return memory.read(begin + offset, to);
          }};
}

bool is_data_memory(const proc::Map& map) { return is_memfd(map, abi::kDataMemfdName); }
bool is_pad_memory(const proc::Map& map) { return is_memfd(map, abi::kPadsMemfdName); }

bool LeftRegion::has_pads(const proc::Map& map) const {
  if (never_armed() || !is_pad_memory(map)) return false;
  const std::vector<uint64_t>& files = untrusted_pad_files;
  return std::find(files.begin(), files.end(), map.inode) != files.end();
}

Result<LeftRegion> read_left_region(const proc::Process& process, const proc::Memory& memory,
                                    const proc::Map& map) {
  LeftRegion found{.range = map.range, .inode = map.inode};
  const ring::RegionView view = view_of(memory, map.range);
  TRY(found.untrusted_header, view.header());
  const abi::DataHeader& h = found.untrusted_header;
  if (found.never_armed()) return found;
  const bool usable =
      h.magic == abi::kMagic && h.version == abi::kVersion && h.site_count <= kMaxSites &&
      uint64_t{h.pad_file_count} * sizeof(uint64_t) <= view.area(h, abi::AreaId::kPadFiles).size &&
      uint64_t{h.site_count} * sizeof(abi::SiteEntry) <= view.area(h, abi::AreaId::kSites).size;
  if (!usable) return unusable(process);
  TRY(found.untrusted_pad_files, view.entries<uint64_t>(h, abi::AreaId::kPadFiles, h.pad_file_count));
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
  if (!stat && stat.error().kind() != ErrorKind::kGone) return stat.error();
  if (!stat || stat->start_time != header.owner_start_time || stat->state == 'Z') return {};
  return Error(ErrorKind::kBusy, fmt::format("already traced by blip (pid {}): end that one first", owner));
}

Result<std::vector<abi::SiteEntry>> read_site_entries(const proc::Memory& memory, const LeftRegion& region) {
  if (region.never_armed()) return std::vector<abi::SiteEntry>();
  const abi::DataHeader& header = region.untrusted_header;
  TRY(std::vector<abi::SiteEntry> entries,
      view_of(memory, region.range).entries<abi::SiteEntry>(header, abi::AreaId::kSites, header.site_count));
  std::erase_if(entries, [](const abi::SiteEntry& e) { return !plausible(e); });
  std::sort(entries.begin(), entries.end(),
            [](const abi::SiteEntry& a, const abi::SiteEntry& b) { return a.addr < b.addr; });
  return entries;
}

Result<bool> is_in_text(const proc::Memory& memory, const abi::SiteEntry& entry) {
  std::array<uint8_t, abi::kMaxEdit> now;
  const std::span<uint8_t> bytes(now.data(), entry.size);
  TRY_OK(memory.read(TargetAddr(entry.addr), bytes));
  return std::equal(bytes.begin(), bytes.end(), entry.changed);
}

Result<PatchTable> patches_of(const proc::Memory& memory, std::span<const proc::Map> maps,
                              std::span<const abi::SiteEntry> all) {
  std::vector<abi::SiteEntry> entries;
  for (const abi::SiteEntry& entry : all) {
    TRY(const bool past, is_of_the_past(memory, maps, entry));
    if (!past) entries.push_back(entry);
  }
  TRY_OK(forget_history(memory, entries));
  PatchTable table;
  std::vector<Edit> edits;
  for (const abi::SiteEntry& entry : entries) {
    const Edit edit = edit_of(entry, static_cast<uint32_t>(table.patches.size()));
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

Footprint footprint_of(const LeftRegion& region, std::span<const proc::Map> maps) {
  Footprint footprint{.control = region.range.begin, .data_size = region.range.size()};
  const uint64_t below = size_below(maps, footprint.control, region.untrusted_header);
  footprint.has_gate = below != 0;
  footprint.parking = static_cast<Parking>(region.untrusted_header.parking);
  if (below > abi::kGatePageSize) {
    footprint.trap_size = plausible_size(region.untrusted_header.trap_size);
    footprint.shadow_size = plausible_size(region.untrusted_header.shadow_size);
    footprint.semaphore_size = plausible_size(region.untrusted_header.semaphore_size);
  }
  for (const proc::Map& map : maps)
    if (region.has_pads(map)) footprint.areas.push_back(map.range);
  return footprint;
}

// Mapped together, and split by what was done to the gate page.
uint64_t size_below(std::span<const proc::Map> maps, TargetAddr control, const abi::DataHeader& header) {
  const uint64_t copied = plausible_size(header.trap_size) + plausible_size(header.shadow_size) +
                          plausible_size(header.semaphore_size);
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

}  // namespace blip::probe
