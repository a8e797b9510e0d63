// SPDX-License-Identifier: MIT
#include "proc/files/guard_pages.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "base/fd.h"
#include "proc/files/page_scan.h"
#include "proc/files/status.h"

namespace blip::proc {

namespace {

bool kernel_has_guards() {
  utsname name{};
  int major = 0, minor = 0;
  if (::uname(&name) != 0 || std::sscanf(name.release, "%d.%d", &major, &minor) != 2) return true;
  return major > 6 || (major == 6 && minor >= 13);
}

// False: the kernel does not know what is asked.
Result<bool> scan(const Fd& fd, AddrRange mapping, std::vector<AddrRange>& found) {
  std::array<PageRegion, 64> regions;
  ScanArgument argument{.size = sizeof(ScanArgument),
                        .start = mapping.begin.value,
                        .end = mapping.end.value,
                        .regions = reinterpret_cast<uint64_t>(regions.data()),
                        .region_count = regions.size(),
                        .all_of = kIsGuard,
                        .wanted = kIsGuard};
  while (argument.start < argument.end) {
    const int count = ::ioctl(fd.get(), kPagemapScan, &argument);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == ENOTTY || errno == EINVAL)) return false;
    if (count < 0) return Error::from_errno(errno, "asking for guard pages");
    for (int i = 0; i < count; ++i)
      found.push_back({TargetAddr(regions[static_cast<size_t>(i)].start),
                       TargetAddr(regions[static_cast<size_t>(i)].end)});
    if (argument.walk_end <= argument.start) break;
    argument.start = argument.walk_end;
  }
  return true;
}

}  // namespace

Result<std::optional<std::vector<AddrRange>>> guard_pages(pid_t pid, std::span<const AddrRange> mappings) {
  std::vector<AddrRange> found;
  if (!kernel_has_guards()) return std::optional(std::move(found));
  TRY(const pid_t tid, find_live_thread(pid));
  const std::string path = fmt::format("/proc/{}/task/{}/pagemap", pid, tid);
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return Error::from_errno(errno, "cannot open " + path);
  for (const AddrRange& mapping : mappings) {
    TRY(const bool known, scan(fd, mapping, found));
    if (!known) return std::optional<std::vector<AddrRange>>();
  }
  return std::optional(std::move(found));
}

}  // namespace blip::proc
