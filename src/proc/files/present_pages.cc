// SPDX-License-Identifier: MIT
// PAGEMAP_SCAN (Linux 6.7) walks page tables and skips what is empty at once. Before that there is only
// /proc/PID/pagemap, with eight bytes for every page that could be.
#include "proc/files/present_pages.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/fd.h"
#include "proc/files/maps.h"
#include "proc/files/page_scan.h"
#include "proc/files/status.h"

namespace blip::proc {

namespace {

constexpr uint64_t kEntrySwapped = uint64_t{1} << 62;
constexpr uint64_t kEntryPresent = uint64_t{1} << 63;
constexpr uint64_t kMostByEntry = uint64_t{16} << 30;  // 32 MiB of pagemap

class Scanner {
 public:
  Scanner(const Fd& fd, uint64_t most) : fd_(fd), most_(most) {}

  // False: the kernel does not know PAGEMAP_SCAN.
  Result<bool> scan(AddrRange mapping) {
    std::array<PageRegion, 256> regions;
    ScanArgument argument{.size = sizeof(ScanArgument),
                          .start = mapping.begin.value,
                          .end = mapping.end.value,
                          .regions = reinterpret_cast<uint64_t>(regions.data()),
                          .region_count = regions.size(),
                          .any_of = kIsPresent | kIsSwapped,
                          .wanted = kIsPresent};
    while (argument.start < argument.end && found_.complete) {
      const int count = ::ioctl(fd_.get(), kPagemapScan, &argument);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && (errno == ENOTTY || errno == EINVAL)) return false;
      if (count < 0) return Error::from_errno(errno, "asking for the pages in memory");
      for (int i = 0; i < count; ++i)
        add({TargetAddr(regions[static_cast<size_t>(i)].start),
             TargetAddr(regions[static_cast<size_t>(i)].end)});
      if (argument.walk_end <= argument.start) break;
      argument.start = argument.walk_end;
    }
    return true;
  }

  Status read_entries(AddrRange mapping) {
    looked_at_ += mapping.size();
    if (looked_at_ > kMostByEntry) {
      found_.complete = false;
      return {};
    }
    uint64_t page = mapping.begin.value / kPageSize;
    const uint64_t end = mapping.end.value / kPageSize;
    std::array<uint64_t, 4096> entries;
    while (page < end && found_.complete) {
      const size_t wanted = std::min<uint64_t>(entries.size(), end - page) * sizeof entries[0];
      const ssize_t got =
          ::pread(fd_.get(), entries.data(), wanted, static_cast<off_t>(page * sizeof entries[0]));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return Error::from_errno(errno, "reading the map of pages");
      const size_t count = static_cast<size_t>(got) / sizeof entries[0];
      if (count == 0) return Error(ErrorKind::kGone, "the process has ended or called exec");
      for (size_t i = 0; i < count; ++i)
        if (entries[i] & (kEntryPresent | kEntrySwapped))
          add({TargetAddr((page + i) * kPageSize), TargetAddr((page + i + 1) * kPageSize)});
      page += count;
    }
    return {};
  }

  PresentPages take() { return std::move(found_); }

 private:
  void add(AddrRange run) {
    found_.size += run.size();
    if (found_.size > most_) found_.complete = false;
    if (!found_.runs.empty() && found_.runs.back().end == run.begin) {
      found_.runs.back().end = run.end;
    } else {
      found_.runs.push_back(run);
    }
  }

  const Fd& fd_;
  uint64_t most_;
  uint64_t looked_at_ = 0;
  PresentPages found_;
};

}  // namespace

Result<PresentPages> present_pages(pid_t pid, std::span<const AddrRange> mappings, uint64_t most) {
  TRY(const pid_t tid, find_live_thread(pid));
  const std::string path = fmt::format("/proc/{}/task/{}/pagemap", pid, tid);
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return Error::from_errno(errno, "cannot open " + path);
  Scanner scanner(fd, most);
  bool scans = true;
  for (const AddrRange& mapping : mappings) {
    if (scans) {
      TRY(scans, scanner.scan(mapping));
    }
    if (!scans) TRY_OK(scanner.read_entries(mapping));
  }
  return scanner.take();
}

}  // namespace blip::proc
