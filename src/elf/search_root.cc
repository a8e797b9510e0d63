// SPDX-License-Identifier: MIT
#include "elf/search_root.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace blip::elf {

Fd open_in_root(const SearchRoot& root, const std::string& path) {
  Fd directory(::open(root.directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return Fd();
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return Fd(static_cast<int>(::syscall(SYS_openat2, directory.get(), path.c_str(), &how, sizeof how)));
}

std::string build_id_path(const std::string& build_id) {
  if (build_id.size() < 4) return "";
  return fmt::format("{}/.build-id/{}/{}.debug", kDebugDirectory, build_id.substr(0, 2), build_id.substr(2));
}

}  // namespace blip::elf
