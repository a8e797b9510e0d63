// SPDX-License-Identifier: MIT
#include "base/mapping.h"

#include <cerrno>

namespace blip {

Result<Mapping> Mapping::create(size_t size, int prot, int flags, int fd, off_t offset) {
  void* p = ::mmap(nullptr, size, prot, flags, fd, offset);
  if (p == MAP_FAILED) return Error::from_errno(errno, "mmap of " + std::to_string(size) + " bytes");
  return Mapping(p, size);
}

}  // namespace blip
