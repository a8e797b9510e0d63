// SPDX-License-Identifier: MIT
// Finds what the user asked for in the files of a process.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/code/module.h"
#include "probe/code/points.h"
#include "probe/code/resolve.h"
#include "session/plan/marks.h"
#include "session/plan/options.h"
#include "session/plan/refusal.h"
#include "session/symbolize/debug_store.h"

namespace blip::session {

// One instruction to be probed.
struct Target {
  size_t module = 0;   // index into the modules
  size_t request = 0;  // index into Options::probes
  probe::Point point;
  std::string name;  // of the event; empty: its place, which is made where it is needed
  // The copy of an inlined function that begins there; null: it is none.
  std::shared_ptr<const dwarf::InlinedInstance> instance{};
  // The static mark that is there; null: it is none.
  std::shared_ptr<const elf::Mark> mark{};
};

struct FoundTargets {
  std::vector<Target> targets;  // in the order of the requests
  std::vector<Refusal> refused;
  std::vector<std::string> notes;  // for -v
};

// Finding may look at these beside the modules.
struct FindContext {
  const probe::ResolveContext& resolve;
  DebugStore& debug;
};

// Which requests count; empty: all.
using RequestMask = std::vector<bool>;

// A request that matches nothing is an error, or left out if a part will do. A place that several requests
// mean is found for each of them; but a function, or its returns, of which they want the same under the same
// name, only for the first.
Result<FoundTargets> find_targets(const Options& options, std::span<const probe::Module> modules,
                                  const FindContext& context, bool part_will_do,
                                  const RequestMask& wanted = {});

// Returns the name of its events.
std::string name_of(const Target& target, std::span<const probe::Module> modules);

}  // namespace blip::session
