// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

#include "session/drain/event_view.h"

namespace blip::session {

class Engine;

// What a trace tells while it goes on; each may be empty.
struct Hooks {
  ShowEvent sink;                                  // every event, in the order of time
  std::function<bool()> is_full;                   // true: the sink can take no more for now
  std::function<void()> end_of_round;              // there is nothing more for now
  std::function<void()> detached;                  // the targets are left; what follows is only said
  std::function<void(const std::string&)> notice;  // a process came or went
  Engine* engine = nullptr;                        // of a script: all hits go there, in place of `sink`
};

}  // namespace blip::session
