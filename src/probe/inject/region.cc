// SPDX-License-Identifier: MIT
#include "probe/inject/region.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

#include "probe/inject/ring_filler.h"
#include "proc/files/pid_namespace.h"
#include "proc/pause.h"
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
// Of the data, for its last page to be lent to calls: should blip die, a signal finds room below it.
constexpr uint64_t kLeastLent = 64 << 10;

// A memfd made by the target and open in blip; the target's descriptor is closed by the calls that map it.
struct SharedFile {
  Fd fd;
  int remote_fd = -1;
};

// The target is asked for files first, which blip opens and gives their size. Then it maps all of them in one
// go, and closes the descriptors. If a place has been taken meanwhile, all of this is done once more.
class RegionMapper {
 public:
  RegionMapper(proc::RemoteCaller& caller, const proc::Process& process, std::vector<proc::Map> maps)
      : caller_(caller), process_(process), maps_(std::move(maps)) {}

  Result<TargetRegion> map_region(const abi::Geometry& geometry,
                                  std::span<const Neighbourhood> neighbourhoods,
                                  const TrampolineLayout& trampolines, PrivateSizes sizes, TableSize tables,
                                  AlsoCalled& also) {
    const auto make = [&]() -> Status {
      region_.trap_size = sizes.traps;
      region_.shadow_size = sizes.shadow;
      region_.semaphore_size = sizes.semaphores;
      region_.has_tables = tables.bytes != 0;
      std::vector<Wanted> wanted{{abi::kDataMemfdName, geometry.region_size(), kDataSeals}};
      if (tables.bytes != 0) wanted.push_back({abi::kPadsMemfdName, tables.bytes, kPadsSeals});
      if (size_of(neighbourhoods, trampolines) != 0)
        wanted.push_back({abi::kPadsMemfdName, size_of(neighbourhoods, trampolines), kPadsSeals});
      TRY_OK(make_files(wanted));
      TRY_OK(plan_data());
      if (also.add) also.add(calls_, region_.control);
      if (tables.bytes != 0) TRY_OK(plan_tables(tables.bytes));
      TRY_OK(plan_pads(neighbourhoods, trampolines));
      return {};
    };
    TRY_OK(patiently(trampolines, make));
    also.made = std::move(calls_);
    region_.data_fd = std::move(files_.front().fd);
    return std::move(region_);
  }

  Result<PadFile> map_pad_file(std::span<const Neighbourhood> neighbourhoods,
                               const TrampolineLayout& trampolines) {
    const auto make = [&]() -> Status {
      const uint64_t size = size_of(neighbourhoods, trampolines);
      if (size != 0) TRY_OK(make_files(std::vector<Wanted>{{abi::kPadsMemfdName, size, kPadsSeals}}));
      return plan_pads(neighbourhoods, trampolines);
    };
    TRY_OK(patiently(trampolines, make));
    return std::move(region_.pad_files.back());
  }

 private:
  struct Wanted {
    const char* name;
    uint64_t size;
    int seals;
  };
  // A mapping that is asked for, by its place in the list of calls.
  struct Planned {
    proc::CallList* list;
    size_t call;
    AddrRange range;
    bool optional = false;  // a run of trampolines
  };

  static uint64_t size_of(std::span<const Neighbourhood> neighbourhoods,
                          const TrampolineLayout& trampolines) {
    uint64_t size = trampolines.frames * abi::kPageSize;
    for (const Neighbourhood& n : neighbourhoods) size += n.size + n.spare;
    return size;
  }

  // On an error nothing is left.
  template <class Make>
  Status patiently(const TrampolineLayout& trampolines, Make&& make) {
    for (int i = 0;; ++i) {
      region_ = {};
      files_.clear();
      data_calls_ = calls_ = {};
      planned_.clear();
      reserve_runs(trampolines);
      Status status = make();
      if (status && caller_.must_let_go()) status = proc::pause_exceeded("mapping memory takes too long");
      if (status) {
        status = run_calls();
        if (const Status mapped = note_mapped(trampolines); !mapped) status = mapped;
      } else {
        close_files();
      }
      if (status) return {};
      (void)unmap_all();
      if (status.error().errno_value() != EEXIST || i == kPlacementTries) return status;
      TRY(maps_, proc::read_maps(process_.pid()));
    }
  }

  // Nothing else may be placed where trampolines will be.
  void reserve_runs(const TrampolineLayout& trampolines) {
    for (const TrampolineRun& run : trampolines.runs) reserve(run.pages);
  }

  Status make_files(std::span<const Wanted> wanted) {
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL;
    TRY(const bool known, create_files(wanted, flags));
    if (!known) TRY_OK(create_files(wanted, flags & ~MFD_NOEXEC_SEAL));
    mappings_.resize(wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) TRY_OK(prepare(files_[i], wanted[i], mappings_[i]));
    return {};
  }

  // False: the kernel does not know the flags.
  Result<bool> create_files(std::span<const Wanted> wanted, unsigned flags) {
    proc::CallList list;
    for (const Wanted& one : wanted) list.add_with_text(SYS_memfd_create, one.name, flags);
    TRY_OK(caller_.run(list));
    Status status;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const auto fd = list.result(i);
      if (fd) files_.push_back({.remote_fd = static_cast<int>(*fd)});
      if (!fd) status = fd.error();
    }
    if (status) return true;
    if (status.error().errno_value() != EINVAL || !files_.empty())
      return status.error().with_context(fmt::format("process {}: memfd_create", process_.pid()));
    return false;
  }

  // With its final size, mapped here and sealed.
  Status prepare(SharedFile& file, const Wanted& wanted, Mapping& mapping) {
    TRY(file.fd, proc::open_target_fd(process_.pid(), file.remote_fd));
    TRY_OK(set_size(file, wanted.size));
    TRY(mapping, Mapping::create(wanted.size, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd.get(), 0));
    if (::fcntl(file.fd.get(), F_ADD_SEALS, wanted.seals) != 0)
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

  // One mapping for the gate page and what is below it: whoever finds the one may believe in the other.
  Status plan_data() {
    region_.data = std::move(mappings_.front());
    const uint64_t size = region_.data.size();
    const uint64_t below =
        region_.semaphore_size + region_.shadow_size + region_.trap_size + abi::kGatePageSize;
    auto* header = reinterpret_cast<abi::DataHeader*>(region_.data.data());
    header->trap_size = region_.trap_size;
    header->shadow_size = region_.shadow_size;
    header->semaphore_size = region_.semaphore_size;
    TRY(const TargetAddr at, find_place(size + below, kUserSpace));
    region_.control = at + below;
    plan(data_calls_, region_.control, size, PROT_READ | PROT_WRITE, MAP_SHARED, files_.front().remote_fd, 0);
    plan(data_calls_, at, below, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    data_calls_.add(SYS_madvise, (region_.control - abi::kGatePageSize).value, abi::kGatePageSize,
                    MADV_WIPEONFORK);
    return {};
  }

  // Cleaned up like pads: whoever knows the file's number takes it away.
  Status plan_tables(uint64_t size) {
    PadFile& tables = region_.pad_files.emplace_back();
    tables.bytes = std::move(mappings_[1]);
    TRY(const TargetAddr at, find_place(size, kUserSpace));
    plan(calls_, at, size, PROT_READ, MAP_SHARED, files_[1].remote_fd, 0);
    tables.areas = {{{at, at + size}, 0}};
    return note_inode(files_[1], tables);
  }

  Status plan_pads(std::span<const Neighbourhood> neighbourhoods, const TrampolineLayout& trampolines) {
    PadFile& pads = region_.pad_files.emplace_back();
    pads.trampolines.frames = trampolines.frames;
    if (size_of(neighbourhoods, trampolines) == 0) return {};
    const SharedFile& file = files_.back();
    pads.bytes = std::move(mappings_.back());
    TRY_OK(note_inode(file, pads));
    for (const Neighbourhood& n : neighbourhoods) {
      TRY(const AddrRange area, find_area(n));
      plan(calls_, area.begin, area.size(), PROT_READ | PROT_EXEC, MAP_SHARED, file.remote_fd,
           pads.trampolines_offset);
      pads.areas.push_back({area, pads.trampolines_offset});
      pads.trampolines_offset += area.size();
    }
    for (const TrampolineRun& run : trampolines.runs) {
      plan(calls_, run.pages.begin, run.pages.size(), PROT_READ | PROT_EXEC, MAP_SHARED, file.remote_fd,
           pads.trampolines_offset + run.frame * abi::kPageSize);
      planned_.back().optional = true;
    }
    return {};
  }

  static Status note_inode(const SharedFile& file, PadFile& pads) {
    struct stat st;
    if (::fstat(file.fd.get(), &st) != 0) return Error::from_errno(errno, "fstat of shared memory");
    pads.inode = st.st_ino;
    return {};
  }

  void plan(proc::CallList& list, TargetAddr at, uint64_t size, int prot, int flags, int fd,
            uint64_t offset) {
    const size_t call = list.add(SYS_mmap, at.value, size, prot, flags | MAP_FIXED_NOREPLACE,
                                 static_cast<int64_t>(fd), offset);
    planned_.push_back({&list, call, {at, at + size}});
  }

  // The data first: the list of all other calls has no room on a stack.
  Status run_calls() {
    for (const SharedFile& file : files_) calls_.add(SYS_close, file.remote_fd);
    Status status = caller_.run(data_calls_);
    if (status && !data_calls_.empty()) status = data_calls_.first_error();
    if (status && region_.data.size() >= kLeastLent) {
      const uint64_t offset = region_.data.size() - abi::kPageSize;
      caller_.lend(region_.control + offset, region_.data.bytes().subspan(offset));
    }
    const Status rest = caller_.run(calls_);
    caller_.lend({}, {});
    return status ? rest : status;
  }

  Status note_mapped(const TrampolineLayout& trampolines) {
    size_t next_run = 0;
    Status status;
    for (const Planned& one : planned_) {
      const auto got = one.list->result(one.call);
      const bool there = got && *got == one.range.begin.value;
      const int error = there ? 0 : got ? EEXIST : got.error().errno_value();
      if (error == ECANCELED) continue;  // not made: run_calls() says why
      if (there) mapped_.push_back(one.range);
      if (got && !there) mapped_.push_back({TargetAddr(*got), TargetAddr(*got) + one.range.size()});
      // A run whose place somebody has taken since the plan was made is left out, and so are those for which
      // the target may have no more mappings.
      if (one.optional) {
        const TrampolineRun& run = trampolines.runs[next_run++];
        if (error == 0) region_.pad_files.back().trampolines.runs.push_back(run);
        if (error == EEXIST || error == ENOMEM) continue;
      }
      if (error != 0 && status)
        status = Error::from_errno(
            error, fmt::format("process {}: mmap of {} bytes", process_.pid(), one.range.size()));
    }
    return status;
  }

  void close_files() {
    proc::CallList list;
    for (const SharedFile& file : files_) list.add(SYS_close, file.remote_fd);
    if (!list.empty()) (void)caller_.run(list);
  }

  // Other threads run: what was free when the maps were read may be taken by now.
  Result<TargetAddr> find_place(uint64_t size, AddrRange window) {
    const auto at = proc::find_gap(maps_, size, window);
    if (!at)
      return Error(ErrorKind::kUnsupported,
                   fmt::format("no room for {} KiB within reach of the code at {:#x}", size / 1024,
                               window.begin.value + window.size() / 2));
    reserve({*at, *at + size});
    return *at;
  }

  // With its spare room, if there is a place for both.
  Result<AddrRange> find_area(const Neighbourhood& n) {
    const bool has_spare = proc::find_gap(maps_, n.size + n.spare, n.reach).has_value();
    const uint64_t size = has_spare ? n.size + n.spare : n.size;
    TRY(const TargetAddr begin, find_place(size, n.reach));
    return AddrRange{begin, begin + size};
  }

  void reserve(AddrRange range) {
    proc::Map map;
    map.range = range;
    const auto at = std::upper_bound(maps_.begin(), maps_.end(), range.begin,
                                     [](TargetAddr a, const proc::Map& m) { return a < m.range.begin; });
    maps_.insert(at, std::move(map));
  }

  // The last one first: by the data discard_unarmed() finds what is below it.
  Status unmap_all() {
    proc::CallList list;
    for (; !mapped_.empty(); mapped_.pop_back())
      list.add(SYS_munmap, mapped_.back().begin.value, mapped_.back().size());
    return list.empty() ? Status() : caller_.run(list);
  }

  proc::RemoteCaller& caller_;
  const proc::Process& process_;
  std::vector<proc::Map> maps_;  // and what is planned
  std::vector<SharedFile> files_;
  std::vector<Mapping> mappings_;  // of the files
  proc::CallList data_calls_, calls_;
  std::vector<Planned> planned_;
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
                                       std::span<const proc::Map> maps, const abi::Geometry& geometry,
                                       std::span<const Neighbourhood> neighbourhoods,
                                       const TrampolineLayout& trampolines, PrivateSizes sizes,
                                       TableSize tables, AlsoCalled& also) {
  return RegionMapper(caller, process, {maps.begin(), maps.end()})
      .map_region(geometry, neighbourhoods, trampolines, sizes, tables, also);
}

Result<PadFile> TargetRegion::map_pads(proc::RemoteCaller& caller, const proc::Process& process,
                                       std::span<const proc::Map> maps,
                                       std::span<const Neighbourhood> neighbourhoods,
                                       const TrampolineLayout& trampolines) {
  return RegionMapper(caller, process, {maps.begin(), maps.end()}).map_pad_file(neighbourhoods, trampolines);
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

std::vector<RegionPart> counter_parts(const abi::Geometry& geometry, uint32_t first, uint32_t last) {
  std::vector<RegionPart> parts;
  if (first >= last) return parts;
  for (const auto kind : {abi::kDiscarded, abi::kSkipped, abi::kHits, abi::kAbandoned, abi::kUnpaired})
    for (uint32_t row = 0; row < geometry.counter_rows(); ++row)
      add_part(parts, geometry.counter_offset(kind, row, first), uint64_t{last - first} * sizeof(uint64_t));
  return parts;
}

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
  std::vector<RegionPart> parts{{0, geometry.counters_offset()}};
  const auto add = [&](uint64_t offset, uint64_t size) { add_part(parts, offset, size); };
  for (const RegionPart& part : counter_parts(geometry, 0, live_classes)) add(part.offset, part.size);
  add(switches, geometry.ring_data_offset() - switches);
  for (const unsigned cpu : online)
    add(geometry.ring_data_offset() + cpu * geometry.ring_size() + room.start, room.end - room.start);
  for (const RegionPart& part : histogram_parts(geometry, online, 0, live_classes))
    add(part.offset, part.size);
  add(geometry.stacks_offset(), geometry.pad_files_offset() - geometry.stacks_offset());
  return parts;
}

Status TargetRegion::allocate(std::span<const RegionPart> parts) const {
  for (const RegionPart& part : parts) TRY_OK(probe::allocate(data_fd.get(), part.offset, part.size));
  return {};
}

uint32_t own_pid_namespace() {
  const auto own = proc::pid_namespace();
  return own ? static_cast<uint32_t>(own->inode) : 0;
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
  proc::CallList list;
  for (const AddrRange& area : joined(footprint.areas, maps))
    list.add(SYS_munmap, area.begin.value, area.size());
  // The gate page, the private memory below it and the data are neighbours: one call, so that none outlives
  // the other.
  if (footprint.data_size != 0)
    list.add(SYS_munmap, (footprint.control - footprint.below()).value,
             footprint.data_size + footprint.below());
  TRY_OK(caller.run(list));
  return list.first_error().with_context("munmap");
}

}  // namespace blip::probe
