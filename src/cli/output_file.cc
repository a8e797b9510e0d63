// SPDX-License-Identifier: MIT
#include "cli/output_file.h"

#include <fcntl.h>

#include <cerrno>

namespace blip::cli {

// O_NONBLOCK: a FIFO must not wait for its reader.
Result<Fd> open_output_file(const std::string& file) {
  constexpr mode_t kMode = 0666;
  Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, kMode));
  if (fd) return fd;
  if (errno == ENXIO)
    return Error(ErrorKind::kNotFound, file + ": nobody reads this FIFO: start its reader first");
  return Error::from_errno(errno, file);
}

}  // namespace blip::cli
