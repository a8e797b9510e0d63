// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/addr.h"
#include "probe/inject/semaphores.h"
#include "probe/patch/pads.h"
#include "proc/files/maps.h"

namespace blip::probe {

// The semaphores of the static marks of a trace: which ones the program is to find raised.
class MarkSemaphores {
 public:
  // Those of the probes that are being armed; `is_refused` tells by number.
  template <typename IsRefused>
  void want(const ProbeList& fresh, const IsRefused& is_refused);
  // A library has gone, and comes again, at the same place.
  void forget(AddrRange library, const void* file);
  void revive(AddrRange library, const void* file);

  // With all threads stopped: raises those that are not yet. Returns how many could not be raised.
  Result<size_t> raise(Semaphores semaphores, std::span<const proc::Map> maps) const;

 private:
  struct Gone {
    AddrRange library;
    const void* file;
    std::vector<TargetAddr> semaphores;
  };

  std::vector<TargetAddr> wanted_;  // sorted
  std::vector<Gone> gone_;
};

template <typename IsRefused>
void MarkSemaphores::want(const ProbeList& fresh, const IsRefused& is_refused) {
  for (size_t i = fresh.first(); i < fresh.end(); ++i) {
    const TargetAddr semaphore = fresh[i].semaphore;
    if (semaphore == TargetAddr() || fresh[i].planned.refused() || is_refused(i)) continue;
    const auto at = std::lower_bound(wanted_.begin(), wanted_.end(), semaphore);
    if (at == wanted_.end() || *at != semaphore) wanted_.insert(at, semaphore);
  }
}

}  // namespace blip::probe
