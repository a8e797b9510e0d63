// SPDX-License-Identifier: MIT
#pragma once

#include <signal.h>

#include <functional>
#include <utility>
#include <vector>

#include "base/result.h"

namespace blip::cli {

// Signals that blip itself gets, for the handlers of a script. While it lives they are kept until take_all(); how often one came
// counts.
class ScriptSignals {
 public:
  ScriptSignals() = default;
  ~ScriptSignals();
  ScriptSignals(const ScriptSignals&) = delete;
  ScriptSignals& operator=(const ScriptSignals&) = delete;

  // Before the first one can come. An error: this one cannot be caught, or ends blip.
  Status catch_signal(int number);
  void take_all(const std::function<void(int)>& take);

 private:
  std::vector<std::pair<int, struct sigaction>> before_;
};

}  // namespace blip::cli
