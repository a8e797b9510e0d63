// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>

#include "abi/layout.h"
#include "base/fd.h"

namespace blip::session {

// blip's side of abi::LibraryWord: from the constructor to the destructor the traced process waits after each
// change of its list of libraries until looked() was called, or for a bounded time. What the words say may be
// made up: that leads to a look too many.
class LoaderWatch {
 public:
  // `word` outlives it. `vpid`: of the process, as it sees itself.
  LoaderWatch(abi::LibraryWord& word, int32_t vpid);
  ~LoaderWatch();
  LoaderWatch(const LoaderWatch&) = delete;
  LoaderWatch& operator=(const LoaderWatch&) = delete;

  // Readable when there is a change.
  int fd() const { return event_.get(); }
  // False: it has waited in vain once, and does not wait any more.
  bool holds() const { return __atomic_load_n(&word_.hold, __ATOMIC_ACQUIRE) != 0; }
  // Its number, if there is one that was not looked at.
  std::optional<uint32_t> change();
  void looked(uint32_t change);
  // How often other processes, children, have changed theirs.
  uint32_t elsewhere() const { return __atomic_load_n(&word_.elsewhere, __ATOMIC_RELAXED); }

 private:
  void wait(uint32_t last);

  abi::LibraryWord& word_;
  Fd event_;
  uint32_t looked_ = 0;  // not the waiting thread's
  std::atomic<bool> stop_ = false;
  std::thread waiting_;  // in a futex: that cannot be polled
};

}  // namespace blip::session
