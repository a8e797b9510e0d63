// SPDX-License-Identifier: MIT
#include "session/roster.h"

#include <algorithm>

namespace blip::session {

const proc::Process* Roster::first() const {
  if (!planned_.empty()) return &planned_.front()->process();
  return unarmed_.empty() ? nullptr : &unarmed_.front();
}

bool Roster::is_settled(pid_t pid) const {
  if (const auto f = failures_.find(pid); f != failures_.end() && f->second >= tries_) return true;
  return std::any_of(live_.begin(), live_.end(), [&](const auto& p) {
    return p->process().pid() == pid || p->target().source().shares(pid);
  });
}

}  // namespace blip::session
