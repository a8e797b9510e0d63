// SPDX-License-Identifier: MIT
// uring: among its threads is one of the kernel's, which waits for work of an io_uring and can be neither
// stopped nor traced.
#include <linux/io_uring.h>
#include <sys/syscall.h>

#include "work.h"

int main(void) {
  struct io_uring_params parameters = {.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 100};
  int fd = (int)syscall(SYS_io_uring_setup, 4, &parameters);
  say("info uring=%d", fd >= 0);
  return serve_calls("uring");
}
