// SPDX-License-Identifier: MIT
#include "probe/region.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "probe/ring_filler.h"
#include "proc/target_memory.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace blip::probe {

namespace {

constexpr int kDataSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr int kPadsSeals = kDataSeals | F_SEAL_FUTURE_WRITE;
constexpr AddrRange kUserSpace{TargetAddr(0x10000), TargetAddr(0x7ffffffff000)};
constexpr int kPlacementTries = 8;

// A memfd made by the target and open in blip; the target's descriptor is closed by close_remote().
struct SharedFile {
  Fd fd;
  int remote_fd = -1;
};

Result<int> create_remote(proc::RemoteCaller& caller, const char* name) {
  const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  auto fd = proc::remote_memfd_create(caller, name, flags | MFD_NOEXEC_SEAL);
  if (!fd && fd.error().errno_value() == EINVAL) fd = proc::remote_memfd_create(caller, name, flags);
  return fd;
}

class RegionMapper {
 public:
  RegionMapper(proc::RemoteCaller& caller, const proc::Process& process)
      : caller_(caller), process_(process) {}

  Result<TargetRegion> map_region(const abi::Geometry& geometry,
                                  std::span<const Neighbourhood> neighbourhoods,
                                  const TrampolineLayout& trampolines, PrivateSizes sizes, TableSize tables) {
    region_.trap_size = sizes.traps;
    region_.shadow_size = sizes.shadow;
    auto status = map_all(geometry, neighbourhoods, trampolines, tables);
    if (status) return std::move(region_);
    (void)unmap_down_to(0);
    return status.error();
  }

  Result<PadFile> map_pad_file(std::span<const Neighbourhood> neighbourhoods,
                               const TrampolineLayout& trampolines) {
    auto status = prepare_maps(trampolines);
    if (status) status = map_pads(neighbourhoods, trampolines);
    if (status) return std::move(region_.pad_files.back());
    (void)unmap_down_to(0);
    return status.error();
  }

 private:
  Status map_all(const abi::Geometry& geometry, std::span<const Neighbourhood> neighbourhoods,
                 const TrampolineLayout& trampolines, TableSize tables) {
    TRY_OK(prepare_maps(trampolines));
    TRY_OK(map_data(geometry.region_size()));
    if (tables.bytes != 0) TRY_OK(map_tables(tables.bytes));
    return map_pads(neighbourhoods, trampolines);
  }

  // What is mapped, and what trampolines will need: nothing else may be placed there.
  Status prepare_maps(const TrampolineLayout& trampolines) {
    TRY(maps_, proc::read_maps(process_.pid()));
    reserved_.clear();
    for (const TrampolineRun& run : trampolines.runs) reserved_.push_back(run.pages);
    reserve_all();
    return {};
  }

  Status map_data(uint64_t size) {
    TRY(SharedFile file, make_file(abi::kDataMemfdName, size, kDataSeals, region_.data));
    // One mapping for the gate page and what is below it: whoever finds the one may believe in the other.
    const uint64_t below = region_.shadow_size + region_.trap_size + abi::kGatePageSize;
    auto* header = reinterpret_cast<abi::DataHeader*>(region_.data.data());
    header->trap_size = region_.trap_size;
    header->shadow_size = region_.shadow_size;
    auto status = place(size + below, kUserSpace, [&](TargetAddr at) -> Status {
      const TargetAddr data = at + below;
      TRY_OK(map_at(data, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.remote_fd, 0));
      TRY_OK(map_at(at, below, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      region_.control = data;
      return proc::remote_madvise(caller_, data - abi::kGatePageSize, abi::kGatePageSize, MADV_WIPEONFORK);
    });
    TRY_OK(close_remote(file, status));
    region_.data_fd = std::move(file.fd);
    return {};
  }

  Status map_pads(std::span<const Neighbourhood> neighbourhoods, const TrampolineLayout& trampolines) {
    uint64_t size = trampolines.frames * abi::kPageSize;
    for (const Neighbourhood& n : neighbourhoods) size += n.size;
    region_.pad_files.emplace_back();
    if (size == 0) return {};
    PadFile& pads = region_.pad_files.back();
    TRY(SharedFile file, make_file(abi::kPadsMemfdName, size, kPadsSeals, pads.bytes));
    auto status = map_areas(file, neighbourhoods, pads);
    if (status) status = map_trampolines(file, trampolines, pads);
    return close_remote(file, status);
  }

  // Cleaned up like pads: whoever knows the file's number takes it away.
  Status map_tables(uint64_t size) {
    region_.has_tables = true;
    PadFile& tables = region_.pad_files.emplace_back();
    TRY(SharedFile file, make_file(abi::kPadsMemfdName, size, kPadsSeals, tables.bytes));
    auto status = place(size, kUserSpace, [&](TargetAddr at) -> Status {
      TRY_OK(map_at(at, size, PROT_READ, MAP_SHARED, file.remote_fd, 0));
      tables.areas = {{{at, at + size}, 0}};
      return note_inode(file, tables);
    });
    return close_remote(file, status);
  }

  static Status note_inode(const SharedFile& file, PadFile& pads) {
    struct stat st;
    if (::fstat(file.fd.get(), &st) != 0) return Error::from_errno(errno, "fstat of shared memory");
    pads.inode = st.st_ino;
    return {};
  }

  Status map_areas(const SharedFile& file, std::span<const Neighbourhood> neighbourhoods, PadFile& pads) {
    TRY_OK(note_inode(file, pads));
    for (const Neighbourhood& n : neighbourhoods) {
      const uint64_t offset = pads.trampolines_offset;
      auto placed = place(n.size, n.reach, [&](TargetAddr at) -> Status {
        TRY_OK(map_at(at, n.size, PROT_READ | PROT_EXEC, MAP_SHARED, file.remote_fd, offset));
        pads.areas.push_back({{at, at + n.size}, offset});
        return {};
      });
      if (!placed) return placed;
      pads.trampolines_offset += n.size;
    }
    return {};
  }

  // A run whose place somebody has taken since the plan was made is left out, and so are those for which the
  // target may have no more mappings.
  Status map_trampolines(const SharedFile& file, const TrampolineLayout& wanted, PadFile& pads) {
    pads.trampolines.frames = wanted.frames;
    for (const TrampolineRun& run : wanted.runs) {
      auto status = map_at(run.pages.begin, run.pages.size(), PROT_READ | PROT_EXEC, MAP_SHARED,
                           file.remote_fd, pads.trampolines_offset + run.frame * abi::kPageSize);
      if (status) {
        pads.trampolines.runs.push_back(run);
      } else if (status.error().errno_value() != EEXIST && status.error().errno_value() != ENOMEM) {
        return status;
      }
    }
    return {};
  }

  // The memfd with its final size, mapped here and sealed.
  Result<SharedFile> make_file(const char* name, uint64_t size, int seals, Mapping& mapping) {
    SharedFile file;
    TRY(file.remote_fd, create_remote(caller_, name));
    auto status = prepare(file, size, seals, mapping);
    if (!status) return close_remote(file, status).error();
    return file;
  }

  Status prepare(SharedFile& file, uint64_t size, int seals, Mapping& mapping) {
    TRY(file.fd, proc::open_target_fd(process_.pid(), file.remote_fd));
    TRY_OK(set_size(file, size));
    TRY(mapping, Mapping::create(size, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd.get(), 0));
    if (::fcntl(file.fd.get(), F_ADD_SEALS, seals) != 0)
      return Error::from_errno(errno, "sealing shared memory");
    return {};
  }

  // blip may run under a file-size limit (ulimit -f), which counts for memfds too; then the target sets the
  // size, unless its own limit would bring it a SIGXFSZ.
  Status set_size(const SharedFile& file, uint64_t size) {
    if (::ftruncate(file.fd.get(), static_cast<off_t>(size)) == 0) return {};
    const Error failed = Error::from_errno(errno, "setting the size of shared memory");
    rlimit limit;
    if (failed.errno_value() != EFBIG || ::prlimit(process_.pid(), RLIMIT_FSIZE, nullptr, &limit) != 0 ||
        limit.rlim_cur < size)
      return failed;
    return proc::remote_ftruncate(caller_, file.remote_fd, size);
  }

  Status close_remote(const SharedFile& file, const Status& status) {
    auto closed = proc::remote_close(caller_, file.remote_fd);
    return status ? closed : status;
  }

  Status map_at(TargetAddr at, uint64_t size, int prot, int flags, int fd, uint64_t offset) {
    TRY(const TargetAddr got,
        proc::remote_mmap(caller_, at, size, prot, flags | MAP_FIXED_NOREPLACE, fd, offset));
    mapped_.push_back({got, got + size});
    return {};
  }

  // Other threads run: what was free when the maps were read may be taken by now.
  template <class Map>
  Status place(uint64_t size, AddrRange window, Map&& map) {
    for (int i = 0;; ++i) {
      const auto at = proc::find_gap(maps_, size, window);
      if (!at)
        return Error(ErrorKind::kUnsupported,
                     fmt::format("no room for {} KiB within reach of the code at {:#x}", size / 1024,
                                 window.begin.value + window.size() / 2));
      const size_t before = mapped_.size();
      auto status = map(*at);
      if (status) {
        reserve({*at, *at + size});
        return {};
      }
      TRY_OK(unmap_down_to(before));
      if (status.error().errno_value() != EEXIST || i == kPlacementTries) return status;
      TRY(maps_, proc::read_maps(process_.pid()));
      reserve_all();
    }
  }

  void reserve(AddrRange range) {
    reserved_.push_back(range);
    proc::Map map;
    map.range = range;
    const auto at = std::upper_bound(maps_.begin(), maps_.end(), range.begin,
                                     [](TargetAddr a, const proc::Map& m) { return a < m.range.begin; });
    maps_.insert(at, std::move(map));
  }

  void reserve_all() {
    for (const AddrRange& range : reserved_) {
      maps_.emplace_back();
      maps_.back().range = range;
    }
    std::sort(maps_.begin(), maps_.end(),
              [](const proc::Map& a, const proc::Map& b) { return a.range.begin < b.range.begin; });
  }

  // The last one first, and none after one that fails: by the data discard_unarmed() finds what is below it.
  Status unmap_down_to(size_t count) {
    for (; mapped_.size() > count; mapped_.pop_back())
      TRY_OK(proc::remote_munmap(caller_, mapped_.back().begin, mapped_.back().size()));
    return {};
  }

  proc::RemoteCaller& caller_;
  const proc::Process& process_;
  std::vector<proc::Map> maps_;
  std::vector<AddrRange> reserved_;  // not to be used, mapped or not
  std::vector<AddrRange> mapped_;
  TargetRegion region_;
};

// One range for all neighbouring areas that have nothing else between them.
std::vector<AddrRange> joined(const std::vector<AddrRange>& areas, std::span<const proc::Map> maps) {
  std::vector<AddrRange> result;
  for (const AddrRange& area : areas) {
    if (!result.empty() && !maps.empty()) {
      const AddrRange gap{result.back().end, area.begin};
      const auto it = std::upper_bound(maps.begin(), maps.end(), gap.begin,
                                       [](TargetAddr a, const proc::Map& m) { return a < m.range.end; });
      if (it == maps.end() || it->range.begin >= gap.end) {
        result.back().end = area.end;
        continue;
      }
    }
    result.push_back(area);
  }
  return result;
}

}  // namespace

Result<TargetRegion> TargetRegion::map(proc::RemoteCaller& caller, const proc::Process& process,
                                       const abi::Geometry& geometry,
                                       std::span<const Neighbourhood> neighbourhoods,
                                       const TrampolineLayout& trampolines, PrivateSizes sizes,
                                       TableSize tables) {
  return RegionMapper(caller, process).map_region(geometry, neighbourhoods, trampolines, sizes, tables);
}

Result<PadFile> TargetRegion::map_pads(proc::RemoteCaller& caller, const proc::Process& process,
                                       std::span<const Neighbourhood> neighbourhoods,
                                       const TrampolineLayout& trampolines) {
  return RegionMapper(caller, process).map_pad_file(neighbourhoods, trampolines);
}

namespace {

// Whole pages; neighbours become one.
void add_part(std::vector<RegionPart>& parts, uint64_t offset, uint64_t size) {
  if (size == 0) return;
  const uint64_t begin = offset / abi::kPageSize * abi::kPageSize;
  const uint64_t end = abi::Geometry::align_up(offset + size, abi::kPageSize);
  if (!parts.empty() && parts.back().offset + parts.back().size >= begin) {
    parts.back().size = std::max(parts.back().offset + parts.back().size, end) - parts.back().offset;
  } else {
    parts.push_back({begin, end - begin});
  }
}

}  // namespace

std::vector<RegionPart> histogram_parts(const abi::Geometry& geometry, std::span<const unsigned> online,
                                        uint32_t first, uint32_t last) {
  std::vector<RegionPart> parts;
  if (!geometry.latencies || first >= last) return parts;
  std::vector<unsigned> rows(online.begin(), online.end());
  rows.push_back(geometry.ring_count);
  for (const unsigned row : rows) {
    if (first == 0) add_part(parts, geometry.latency_totals_offset(row, 0), geometry.latency_totals_size());
    const uint64_t begin = geometry.latency_buckets_offset(row, first);
    add_part(parts, begin, geometry.latency_buckets_offset(row, last) - begin);
  }
  return parts;
}

std::vector<RegionPart> live_parts(const abi::Geometry& geometry, const ring::FirstRoom& room,
                                   std::span<const unsigned> online, uint32_t live_classes) {
  const uint64_t switches = geometry.switches_offset() / abi::kPageSize * abi::kPageSize;
  std::vector<RegionPart> parts{{0, geometry.sites_offset()},
                                {switches, geometry.ring_data_offset() - switches}};
  const auto add = [&](uint64_t offset, uint64_t size) { add_part(parts, offset, size); };
  for (const unsigned cpu : online)
    add(geometry.ring_data_offset() + cpu * geometry.ring_size() + room.start, room.end - room.start);
  for (const RegionPart& part : histogram_parts(geometry, online, 0, live_classes))
    add(part.offset, part.size);
  add(geometry.stacks_offset(), geometry.region_size() - geometry.stacks_offset());
  return parts;
}

Status TargetRegion::allocate(std::span<const RegionPart> parts) const {
  for (const RegionPart& part : parts) TRY_OK(probe::allocate(data_fd.get(), part.offset, part.size));
  return {};
}

uint32_t own_pid_namespace() {
  struct stat st;
  return ::stat("/proc/self/ns/pid", &st) == 0 ? static_cast<uint32_t>(st.st_ino) : 0;
}

bool Footprint::in_pads(TargetAddr a) const {
  auto it = std::upper_bound(areas.begin(), areas.end(), a,
                             [](TargetAddr x, const AddrRange& r) { return x < r.begin; });
  return it != areas.begin() && (it - 1)->contains(a);
}

std::vector<AddrRange> merge_ranges(std::vector<AddrRange> ranges) {
  std::sort(ranges.begin(), ranges.end());
  std::vector<AddrRange> merged;
  for (const AddrRange& range : ranges) {
    if (!merged.empty() && range.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

Status unmap_footprint(proc::RemoteCaller& caller, const Footprint& footprint,
                       std::span<const proc::Map> maps) {
  for (const AddrRange& area : joined(footprint.areas, maps))
    TRY_OK(proc::remote_munmap(caller, area.begin, area.size()));
  if (footprint.data_size == 0) return {};
  // The gate page, the private memory below it and the data are neighbours: one call, so that none outlives
  // the other.
  return proc::remote_munmap(caller, footprint.control - footprint.below(),
                             footprint.data_size + footprint.below());
}

}  // namespace blip::probe
