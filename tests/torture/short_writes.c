// SPDX-License-Identifier: MIT
// LD_PRELOAD: of the Nth write(), pwrite() or process_vm_writev() (SHORT_CALL, SHORT_AT) only half is done, as a kernel may at
// any time. Makes the file SHORT_DONE when it has happened.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static size_t half_if_now(const char* call, unsigned* count, size_t size) {
  const char *wanted = getenv("SHORT_CALL"), *at = getenv("SHORT_AT"), *done = getenv("SHORT_DONE");
  if (!wanted || !at || !done || strcmp(wanted, call) != 0) return size;
  if (__atomic_add_fetch(count, 1, __ATOMIC_RELAXED) != (unsigned)atoi(at) || size < 2) return size;
  const int fd = open(done, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd >= 0) close(fd);
  return size / 2;
}

ssize_t write(int fd, const void* bytes, size_t size) {
  static unsigned count;
  ssize_t (*next)(int, const void*, size_t) = dlsym(RTLD_NEXT, "write");
  return next(fd, bytes, half_if_now("write", &count, size));
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t at) {
  static unsigned count;
  ssize_t (*next)(int, const void*, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
  return next(fd, bytes, half_if_now("pwrite64", &count, size), at);
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) { return pwrite64(fd, bytes, size, at); }

ssize_t process_vm_writev(pid_t pid, const struct iovec* from, unsigned long n, const struct iovec* to, unsigned long m,
                          unsigned long flags) {
  static unsigned count;
  ssize_t (*next)(pid_t, const struct iovec*, unsigned long, const struct iovec*, unsigned long, unsigned long) =
      dlsym(RTLD_NEXT, "process_vm_writev");
  struct iovec first = *from;
  first.iov_len = half_if_now("process_vm_writev", &count, first.iov_len);
  return first.iov_len == from->iov_len ? next(pid, from, n, to, m, flags) : next(pid, &first, 1, to, m, flags);
}
