// SPDX-License-Identifier: MIT
// The seam between a script's handlers and the plan of a trace: what a script wants recorded at a place.
#pragma once

#include "base/result.h"
#include "script/front/script.h"
#include "session/plan/hit_data.h"

namespace blip::session {

class HandlerSource {
 public:
  virtual ~HandlerSource() = default;
  // The target's part of the handler of Options::probes[target.request] there, with the number that its records have
  // (HitData::probe). An error refuses the place.
  virtual Result<HitData> handler_at(const Target& target, const probe::Module& module,
                                     script::HitSite& site) = 0;
};

}  // namespace blip::session
