// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <vector>

#include "session/plan/handler_source.h"
#include "session/plan/options.h"
#include "session/run/handlers.h"

namespace blip::session {

// What a trace records for a script.
class HandlerPlan final : public HandlerSource {
 public:
  // Both outlive it.
  HandlerPlan(Handlers& handlers, const Options& options) : handlers_(handlers), options_(options) {}

  Result<HitData> handler_at(const Target& target, const probe::Module& module,
                             script::HitSite& site) override;

 private:
  Handlers& handlers_;
  const Options& options_;
};

// The script's probes with a hit, as requests: Options::probes.
Result<std::vector<ProbeRequest>> requests_of(const script::Script& script);

// The user's processes that have a file mapped which a probe of the script names. An error: there is none, or a probe names no
// file.
Result<std::vector<pid_t>> processes_of(const script::Script& script);

}  // namespace blip::session
