// SPDX-License-Identifier: MIT
#include "proc/files/private_pages.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/fd.h"
#include "proc/files/maps.h"
#include "proc/files/status.h"

namespace blip::proc {

namespace {

// An entry of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst).
constexpr uint64_t kOfFileOrShared = uint64_t{1} << 61;
constexpr uint64_t kSwapped = uint64_t{1} << 62;
constexpr uint64_t kPresent = uint64_t{1} << 63;

bool is_private(uint64_t entry) { return (entry & (kPresent | kSwapped)) && !(entry & kOfFileOrShared); }

}  // namespace

Result<std::vector<TargetAddr>> private_pages(pid_t pid, AddrRange mapping) {
  TRY(const pid_t tid, find_live_thread(pid));
  const std::string path = fmt::format("/proc/{}/task/{}/pagemap", pid, tid);
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return Error::from_errno(errno, "cannot open " + path);
  std::vector<TargetAddr> pages;
  uint64_t page = mapping.begin.value / kPageSize;
  const uint64_t end = (mapping.end.value + kPageSize - 1) / kPageSize;
  std::array<uint64_t, 4096> entries;
  while (page < end) {
    const size_t wanted = std::min<uint64_t>(entries.size(), end - page) * sizeof entries[0];
    const ssize_t got =
        ::pread(fd.get(), entries.data(), wanted, static_cast<off_t>(page * sizeof entries[0]));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno(errno, "cannot read " + path);
    const size_t count = static_cast<size_t>(got) / sizeof entries[0];
    if (count == 0) return Error(ErrorKind::kGone, fmt::format("process {} has ended or called exec", pid));
    for (size_t i = 0; i < count; ++i)
      if (is_private(entries[i])) pages.push_back(TargetAddr((page + i) * kPageSize));
    page += count;
  }
  return pages;
}

}  // namespace blip::proc
