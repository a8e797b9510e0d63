// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

#include "base/fd.h"
#include "base/result.h"

namespace blip {

// The wish to end a piece of work, from a signal handler or another thread to whoever does it.
class StopRequest {
 public:
  StopRequest();

  // Any thread, and signal handlers; cannot be taken back.
  void request();
  bool requested() const { return requested_; }
  // An error if so: for places where nothing has to be finished.
  Status check() const;
  // Readable from request() on, for who sleeps; negative if the system had no descriptor left.
  int fd() const { return bell_.get(); }

  // Asked by a signal handler after request(): the program may end between any two instructions.
  bool may_end_at_once() const { return untouched_ > 0 && vital_ == 0; }

  // While one lives, nothing outside of blip has been touched, and the program may end at once. Planning takes as
  // long as files are large, whatever they hold; so it is not asked to look at requested().
  class Untouched {
   public:
    explicit Untouched(StopRequest& stop) : stop_(stop) { ++stop_.untouched_; }
    ~Untouched() { --stop_.untouched_; }
    Untouched(const Untouched&) = delete;
    Untouched& operator=(const Untouched&) = delete;

   private:
    StopRequest& stop_;
  };

  // While one lives inside of the above, there is something to clean up, as a child process. Null: nobody asks.
  class Vital {
   public:
    explicit Vital(StopRequest* stop) : stop_(stop) {
      if (stop_) ++stop_->vital_;
    }
    ~Vital() {
      if (stop_) --stop_->vital_;
    }
    Vital(const Vital&) = delete;
    Vital& operator=(const Vital&) = delete;

   private:
    StopRequest* stop_;
  };

 private:
  std::atomic<bool> requested_{false};
  std::atomic<int> untouched_{0}, vital_{0};
  Fd bell_;
};

}  // namespace blip
