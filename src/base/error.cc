// SPDX-License-Identifier: MIT
#include "base/error.h"

#include <cerrno>

namespace blip {

namespace {

ErrorKind kind_of(int errno_value) {
  switch (errno_value) {
    case EPERM:
    case EACCES:
      return ErrorKind::kPermission;
    case ENOENT:
      return ErrorKind::kNotFound;
    case ESRCH:
      return ErrorKind::kGone;
    case EBUSY:
      return ErrorKind::kBusy;
    case ETIMEDOUT:
      return ErrorKind::kTimeout;
    default:
      return ErrorKind::kSystem;
  }
}

}  // namespace

Error Error::from_errno(int errno_value, std::string what) {
  what += ": ";
  what += std::strerror(errno_value);
  return Error(kind_of(errno_value), std::move(what), errno_value);
}

}  // namespace blip
