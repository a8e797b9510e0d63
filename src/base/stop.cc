// SPDX-License-Identifier: MIT
#include "base/stop.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace blip {

static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

StopRequest::StopRequest() : bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void StopRequest::request() {
  if (requested_.exchange(true)) return;
  const int saved = errno;
  const uint64_t one = 1;
  if (bell_) (void)!::write(bell_.get(), &one, sizeof one);
  errno = saved;
}

Status StopRequest::check() const {
  if (!requested()) return {};
  return Error(ErrorKind::kTimeout, "stopped before any probe was armed");
}

}  // namespace blip
