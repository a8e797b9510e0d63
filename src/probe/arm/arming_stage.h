// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "base/check.h"

namespace blip::probe {

// How far a trace has come in its target.
//
//   Planned --> Mapped --> Built <--> Touched --> Open
//                  |         |           |          |
//                  +---------+-----+-----+----------+--> Removed
//
// An arming that fails goes on from wherever it is to Removed, by taking back what that stage says is there.
class ArmingStage {
 public:
  enum class Stage : uint8_t {
    kPlanned,  // nothing is in the target
    kMapped,   // memory without contents is
    kBuilt,    // header, pads and site table are written, as often as it takes; no thread can get there
    kTouched,  // threads may stand in pads, and sites may be patched; back to Built only before either is so
    kOpen,     // hits are recorded
    kRemoved,  // all was taken out, or the target is gone
  };

  Stage now() const { return now_; }
  // Something of the trace is there, to be taken away.
  bool is_in_target() const { return now_ != Stage::kPlanned && now_ != Stage::kRemoved; }
  // Taking it away needs a stop of all threads.
  bool is_touched() const { return now_ == Stage::kTouched || now_ == Stage::kOpen; }
  bool is_open() const { return now_ == Stage::kOpen; }

  static constexpr bool may_follow(Stage next, Stage now) {
    switch (next) {
      case Stage::kPlanned:
        return false;
      case Stage::kMapped:
        return now == Stage::kPlanned;
      case Stage::kBuilt:
        return now == Stage::kMapped || now == Stage::kBuilt || now == Stage::kTouched;
      case Stage::kTouched:
        return now == Stage::kBuilt;
      case Stage::kOpen:
        return now == Stage::kTouched;
      case Stage::kRemoved:
        return true;
    }
    return false;
  }

  void enter(Stage next) {
    CHECK(may_follow(next, now_));
    now_ = next;
  }

 private:
  Stage now_ = Stage::kPlanned;
};

}  // namespace blip::probe
