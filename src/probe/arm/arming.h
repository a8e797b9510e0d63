// SPDX-License-Identifier: MIT
#pragma once

#include "base/result.h"
#include "probe/arm/trace_parts.h"
#include "probe/inject/target_restorer.h"
#include "probe/patch/pads.h"
#include "proc/attachment.h"
#include "proc/remote_call.h"

namespace blip::probe {

// Puts a trace into its target, from the plan of its sites to the open gate. After an error the stage says
// what is there to be taken back.
class Arming {
 public:
  // `restorer` is told of the memory as soon as it is there. Both outlive it.
  Arming(TraceParts& trace, TargetRestorer& restorer) : trace_(trace), restorer_(restorer) {}

  Status run(ModuleSites sites);

 private:
  Status choose_clock();
  Status plan(ModuleSites sites);
  Status map_memory();
  void size_shared_ring();
  Status check_tsc() const;
  Status build();

  TraceParts& trace_;
  TargetRestorer& restorer_;
};

}  // namespace blip::probe
