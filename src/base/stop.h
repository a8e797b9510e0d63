// SPDX-License-Identifier: MIT
// The user's wish to end, from a signal handler to whoever works for long.
#pragma once

#include "base/result.h"

namespace blip::stop {

// From a signal handler or another thread; cannot be taken back.
void request();
bool requested();
// An error if so: for places where nothing has to be finished.
Status check();

// While one lives, nothing outside of blip has been touched, and blip may end between any two instructions.
// Planning takes as long as files are large, whatever they hold; so it is not asked to look at requested().
class Untouched {
 public:
  Untouched();
  ~Untouched();
  Untouched(const Untouched&) = delete;
  Untouched& operator=(const Untouched&) = delete;
};

// While one lives inside of the above, there is something to clean up, as a child process.
class Vital {
 public:
  Vital();
  ~Vital();
  Vital(const Vital&) = delete;
  Vital& operator=(const Vital&) = delete;
};

// Asked by the signal handler.
bool may_end_at_once();

}  // namespace blip::stop
