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

#include "proc/cpu.h"
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

  Result<TargetRegion> run(const abi::Geometry& geometry, std::span<const Neighbourhood> neighbourhoods) {
    auto status = map_all(geometry, neighbourhoods);
    if (status) return std::move(region_);
    undo();
    return status.error();
  }

 private:
  Status map_all(const abi::Geometry& geometry, std::span<const Neighbourhood> neighbourhoods) {
    TRY(maps_, proc::read_maps(process_.pid()));
    TRY_OK(map_data(geometry.region_size()));
    return map_pads(neighbourhoods);
  }

  Status map_data(uint64_t size) {
    TRY(SharedFile file, make_file(abi::kDataMemfdName, size, kDataSeals, region_.data));
    auto status = place(size + abi::kGatePageSize, kUserSpace, [&](TargetAddr at) -> Status {
      const TargetAddr data = at + abi::kGatePageSize;
      TRY_OK(map_at(data, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.remote_fd, 0));
      TRY_OK(map_at(at, abi::kGatePageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      region_.control = data;
      return proc::remote_madvise(caller_, at, abi::kGatePageSize, MADV_WIPEONFORK);
    });
    TRY_OK(close_remote(file, std::move(status)));
    region_.data_fd = std::move(file.fd);
    return {};
  }

  Status map_pads(std::span<const Neighbourhood> neighbourhoods) {
    uint64_t size = 0;
    for (const Neighbourhood& n : neighbourhoods) size += n.size;
    if (size == 0) return {};
    TRY(SharedFile file, make_file(abi::kPadsMemfdName, size, kPadsSeals, region_.pads));
    Status status;
    uint64_t offset = 0;
    for (const Neighbourhood& n : neighbourhoods) {
      status = place(n.size, n.reach, [&](TargetAddr at) -> Status {
        TRY_OK(map_at(at, n.size, PROT_READ | PROT_EXEC, MAP_SHARED, file.remote_fd, offset));
        region_.areas.push_back({{at, at + n.size}, offset});
        return {};
      });
      if (!status) break;
      offset += n.size;
    }
    return close_remote(file, std::move(status));
  }

  // The memfd with its final size, mapped here and sealed.
  Result<SharedFile> make_file(const char* name, uint64_t size, int seals, Mapping& mapping) {
    SharedFile file;
    TRY(file.remote_fd, create_remote(caller_, name));
    auto status = prepare(file, size, seals, mapping);
    if (!status) return close_remote(file, std::move(status)).error();
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

  Status close_remote(const SharedFile& file, Status status) {
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
      while (mapped_.size() > before) unmap_last();
      if (status.error().errno_value() != EEXIST || i == kPlacementTries) return status;
      TRY(maps_, proc::read_maps(process_.pid()));
    }
  }

  void reserve(AddrRange range) {
    proc::Map map;
    map.range = range;
    const auto at = std::upper_bound(maps_.begin(), maps_.end(), range.begin,
                                     [](TargetAddr a, const proc::Map& m) { return a < m.range.begin; });
    maps_.insert(at, std::move(map));
  }

  void unmap_last() {
    (void)proc::remote_munmap(caller_, mapped_.back().begin, mapped_.back().size());
    mapped_.pop_back();
  }

  void undo() {
    while (!mapped_.empty()) unmap_last();
  }

  proc::RemoteCaller& caller_;
  const proc::Process& process_;
  std::vector<proc::Map> maps_;
  std::vector<AddrRange> mapped_;
  TargetRegion region_;
};

}  // namespace

Result<TargetRegion> TargetRegion::map(proc::RemoteCaller& caller, const proc::Process& process,
                                       const abi::Geometry& geometry,
                                       std::span<const Neighbourhood> neighbourhoods) {
  return RegionMapper(caller, process).run(geometry, neighbourhoods);
}

Result<std::vector<RegionPart>> live_parts(const abi::Geometry& geometry) {
  std::vector<RegionPart> parts{{0, geometry.ring_data_offset()}};
  if (geometry.ring_size() == 0) return parts;
  TRY(const std::vector<unsigned> online, proc::online_cpus());
  for (unsigned cpu : online) {
    const uint64_t offset = geometry.ring_data_offset() + cpu * geometry.ring_size();
    if (parts.back().offset + parts.back().size == offset) {
      parts.back().size += geometry.ring_size();
    } else {
      parts.push_back({offset, geometry.ring_size()});
    }
  }
  return parts;
}

Status TargetRegion::allocate(const abi::Geometry& geometry) const {
  TRY(const std::vector<RegionPart> parts, live_parts(geometry));
  for (const RegionPart& part : parts) {
    if (::fallocate(data_fd.get(), 0, static_cast<off_t>(part.offset), static_cast<off_t>(part.size)) != 0)
      return Error::from_errno(errno, fmt::format("allocating {} KiB of buffers", part.size / 1024));
  }
  return {};
}

uint32_t own_pid_namespace() {
  struct stat st;
  return ::stat("/proc/self/ns/pid", &st) == 0 ? static_cast<uint32_t>(st.st_ino) : 0;
}

Status unmap_footprint(proc::RemoteCaller& caller, const Footprint& footprint) {
  for (const AddrRange& area : footprint.areas) TRY_OK(proc::remote_munmap(caller, area.begin, area.size()));
  if (footprint.data_size == 0) return {};
  // The gate page and the data are neighbours: one call, so that neither outlives the other.
  const uint64_t gate_size = footprint.has_gate ? abi::kGatePageSize : 0;
  return proc::remote_munmap(caller, footprint.control - gate_size, footprint.data_size + gate_size);
}

}  // namespace blip::probe
