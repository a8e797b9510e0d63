// SPDX-License-Identifier: MIT
// Several probes may ask for the returns of one function. A call is remembered once for all of them, with the
// values of its entry that any of them wants: docs/design/returns.md.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "session/plan/hit_data.h"
#include "session/plan/options.h"
#include "session/plan/targets.h"

namespace blip::session {

class SharedCalls {
 public:
  SharedCalls() = default;
  // `data`: by target, or empty. Refuses targets for which an entry would have to keep more than it can.
  SharedCalls(const Options& options, std::span<const Target> targets, std::span<const HitData> data,
              std::vector<std::string>& refusals);

  // The first of the targets that share the calls of its function; itself where it is alone.
  size_t leader(size_t target) const;
  bool is_shared(size_t target) const { return numbers_.contains(target); }
  // For a shared call: what the entry keeps for all targets, and the target's own program in terms of that.
  const script::HitProgram& kept(size_t target) const { return kept_.at(leader(target)); }
  script::HitProgram renumbered(size_t target, script::HitProgram hit) const;

 private:
  std::map<size_t, size_t> leaders_;                 // of targets that follow another one
  std::map<size_t, script::HitProgram> kept_;        // by leader
  std::map<size_t, std::vector<uint32_t>> numbers_;  // by target: where its values are among those of all
};

}  // namespace blip::session
