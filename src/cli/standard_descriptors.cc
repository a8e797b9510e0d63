// SPDX-License-Identifier: MIT
#include "cli/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

namespace blip::cli {

// open(2) takes the lowest free number. Opened for the wrong direction, so that using them fails with EBADF.
void open_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    const int mode = (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC;
    if (open("/dev/null", mode) < 0) (void)!open("/", O_PATH | O_CLOEXEC);  // a root without devices
  }
}

}  // namespace blip::cli
