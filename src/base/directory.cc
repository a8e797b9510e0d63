// SPDX-License-Identifier: MIT
#include "base/directory.h"

#include <dirent.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

namespace blip {

namespace {

// The next entry, or null with errno: 0 at the end.
const dirent* next(DIR* directory) {
  errno = 0;
  return ::readdir(directory);
}

}  // namespace

Result<std::vector<std::string>> list_directory(const std::string& path, int relative_to) {
  const int fd = ::openat(relative_to, path.c_str(), O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return Error::from_errno(errno, "cannot open " + path);
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::fdopendir(fd), &::closedir);
  if (!directory) {
    const int failure = errno;
    ::close(fd);
    return Error::from_errno(failure, "cannot read " + path);
  }
  std::vector<std::string> names;
  while (const dirent* entry = next(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return Error::from_errno(errno, "cannot read " + path);
  return names;
}

}  // namespace blip
