// SPDX-License-Identifier: MIT
#include "probe/inject/leftovers.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "machine/stub.h"
#include "probe/inject/left_region.h"
#include "probe/inject/removal.h"
#include "proc/attachment.h"
#include "proc/files/maps.h"
#include "proc/files/status.h"
#include "proc/left_over_stub.h"
#include "proc/stub_site.h"
#include "proc/target_memory.h"
#include "proc/tracer_thread.h"

namespace blip::probe {

namespace {

bool is_blip_memory(const proc::Map& map) { return is_data_memory(map) || is_pad_memory(map); }

Result<std::vector<int>> left_over_fds(const proc::Process& process) {
  std::vector<int> fds;
  for (const char* name : {abi::kDataMemfdName, abi::kPadsMemfdName}) {
    TRY(const std::vector<int> found,
        proc::find_target_fds(process.pid(), fmt::format("/memfd:{} (deleted)", name)));
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
  TRY(const std::vector<int> fds, left_over_fds(process));
  for (int fd : fds) TRY_OK(proc::remote_close(caller, fd));
  return {};
}

bool is_of_this_blip(const abi::DataHeader& header) {
  const auto stat = proc::read_stat(::getpid(), ::getpid());
  return header.owner_pid == ::getpid() && header.owner_pid_namespace == own_pid_namespace() && stat &&
         header.owner_start_time == stat->start_time;
}

bool has_stub(const proc::Memory& memory, const proc::StubSite& site) {
  std::array<uint8_t, machine::kStubSize> bytes{};
  return memory.read(site.addr, bytes) && machine::is_stub(bytes);
}

// What a blip leaves that is killed in a remote call.
Status clear_stub(const proc::Process& process, proc::Memory& memory, const proc::StubSite& site) {
  TRY(proc::Attachment attachment, proc::Attachment::stop_all(process));
  TRY_OK(proc::clear_left_over_stub(attachment, memory, site));
  return memory.write(site.addr, site.original);
}

class Cleaner {
 public:
  Cleaner(const proc::Process& process, proc::Memory& memory, const RegionSaver& save, Owner owner)
      : process_(process), memory_(memory), save_(save), owner_(owner) {}

  Result<Leftovers> run() {
    TRY(maps_, proc::read_maps(process_.pid()));
    TRY(std::vector<LeftRegion> regions, find_regions());
    TRY(const bool had_stub, clean_stub());
    if (had_stub) {
      TRY(maps_, proc::read_maps(process_.pid()));
      TRY(regions, find_regions());
    }
    for (const LeftRegion& region : regions) TRY_OK(clean(region));
    TRY_OK(clean_nameless_pads(regions));
    TRY(const std::vector<int> fds, left_over_fds(process_));
    if (!fds.empty()) {
      result_.found = true;
      TRY_OK(proc::on_tracer_thread([&] { return close_fds(process_, memory_); }));
    }
    std::sort(result_.kept.returns.begin(), result_.kept.returns.end());
    return std::move(result_);
  }

 private:
  Result<std::vector<LeftRegion>> find_regions() {
    std::vector<LeftRegion> regions;
    for (const proc::Map& map : maps_) {
      if (!is_data_memory(map)) continue;
      TRY(LeftRegion region, read_left_region(process_, memory_, map));
      const bool is_own = owner_ == Owner::kMayBeThisBlip && is_of_this_blip(region.untrusted_header);
      if (!region.never_armed() && !is_own)
        TRY_OK(check_owner(region.untrusted_header).with_context(fmt::format("process {}", process_.pid())));
      regions.push_back(region);
    }
    return regions;
  }

  Status clean(const LeftRegion& region) {
    result_.found = true;
    TRY(std::vector<abi::SiteEntry> entries, read_site_entries(memory_, region));
    const Footprint footprint = footprint_of(region, maps_);
    TRY(const PatchTable table, patches_of(memory_, maps_, entries));
    const auto armed = std::count_if(entries.begin(), entries.end(), [&](const abi::SiteEntry& e) {
      return e.window != 0 && is_in_text(memory_, e).value_or(false);
    });
    const auto save = [&]() -> Status { return save_ ? save_now(region) : Status(); };
    TRY(const RemovalReport report,
        remove_instrumentation(process_, memory_, footprint, table, {}, {.before_unmap = save}));
    if (report.kept) TRY_OK(save());  // the probes are out, so nothing comes any more, but from who is inside
    result_.probes += static_cast<size_t>(armed);
    if (report.kept) keep(region, entries, footprint, report.kept_reason);
    return {};
  }

  // As it is now: its header may be of before.
  Status save_now(const LeftRegion& region) {
    const proc::Map* map = proc::find_map(maps_, region.range.begin);
    TRY(const LeftRegion now, read_left_region(process_, memory_, *map));
    return save_(now);
  }

  void keep(const LeftRegion& region, const std::vector<abi::SiteEntry>& entries, const Footprint& footprint,
            const std::string& reason) {
    result_.stays.push_back(reason);
    KeptMemory& kept = result_.kept;
    kept.mappings.push_back(region.range);
    kept.mappings.insert(kept.mappings.end(), footprint.areas.begin(), footprint.areas.end());
    for (const abi::SiteEntry& entry : entries)
      if (entry.window != 0) kept.returns.push_back(TargetAddr(entry.addr + entry.window));
  }

  // Before anything else is believed: a thread that has not run since that blip died may still make its last
  // call, which maps memory or opens a descriptor.
  Result<bool> clean_stub() {
    const auto site = proc::find_stub_site(memory_, maps_);
    if (!site || !has_stub(memory_, *site)) return false;
    result_.found = true;
    TRY_OK(proc::on_tracer_thread([&] { return clear_stub(process_, memory_, *site); }));
    return true;
  }

  // Pads without a description were mapped, but never led to.
  Status clean_nameless_pads(const std::vector<LeftRegion>& regions) {
    Footprint footprint;
    for (const proc::Map& map : maps_) {
      const bool described = std::any_of(regions.begin(), regions.end(),
                                         [&](const LeftRegion& region) { return region.has_pads(map); });
      if (is_pad_memory(map) && !described) footprint.areas.push_back(map.range);
    }
    if (footprint.areas.empty()) return {};
    result_.found = true;
    auto report = remove_instrumentation(process_, memory_, footprint, {});
    return report ? Status() : report.error();
  }

  const proc::Process& process_;
  proc::Memory& memory_;
  const RegionSaver& save_;
  const Owner owner_;
  std::vector<proc::Map> maps_;
  Leftovers result_;
};

}  // namespace

bool KeptMemory::has(AddrRange mapping) const {
  return std::any_of(mappings.begin(), mappings.end(),
                     [&](const AddrRange& kept) { return kept.contains(mapping.begin); });
}

bool KeptMemory::returns_into(AddrRange bytes) const {
  const auto it = std::upper_bound(returns.begin(), returns.end(), bytes.begin);
  return it != returns.end() && *it < bytes.end;
}

std::optional<std::string> Leftovers::text() const {
  if (!found) return std::nullopt;
  std::string text = fmt::format("cleaned up after a blip that was killed ({} probes)", probes);
  if (!stays.empty()) text += fmt::format("; its memory stays: {}", fmt::join(stays, "; "));
  return text;
}

bool has_blip_memory(pid_t pid) {
  const auto maps = proc::read_maps(pid);
  return maps && std::any_of(maps->begin(), maps->end(), is_blip_memory);
}

bool is_traced_by_blip(const proc::Process& process, const proc::Memory& memory) {
  const auto maps = proc::read_maps(process.pid());
  return maps && std::any_of(maps->begin(), maps->end(), [&](const proc::Map& map) {
           if (!is_data_memory(map)) return false;
           const auto region = read_left_region(process, memory, map);
           if (!region || region->never_armed()) return false;
           const auto owner = check_owner(region->untrusted_header);
           return !owner && owner.error().kind() == ErrorKind::kBusy;
         });
}

Status discard_unarmed(proc::RemoteCaller& caller, const proc::Process& process, const proc::Memory& memory,
                       const KeptMemory& kept) {
  TRY(const std::vector<int> fds, left_over_fds(process));
  for (int fd : fds) TRY_OK(proc::remote_close(caller, fd));
  TRY(const std::vector<proc::Map> maps, proc::read_maps(process.pid()));
  for (const proc::Map& map : maps) {
    if (!is_blip_memory(map) || kept.has(map.range)) continue;
    uint64_t below = 0;
    if (is_data_memory(map)) {
      TRY(const auto header, view_of(memory, map.range).header());
      below = size_below(maps, map.range.begin, header);
    }
    TRY_OK(proc::remote_munmap(caller, map.range.begin - below, map.range.size() + below));
  }
  return {};
}

Result<Leftovers> clean_leftovers(const proc::Process& process, proc::Memory& memory, const RegionSaver& save,
                                  Owner owner) {
  return Cleaner(process, memory, save, owner).run();
}

}  // namespace blip::probe
