// SPDX-License-Identifier: MIT
// What the probes of a script mean, without arming any: blip run -l, -L.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "script/front/script.h"
#include "session/plan/options.h"

namespace blip::session {

struct ListedPlace {
  size_t probe = 0;  // of the script
  script::CodeName place;
  std::vector<std::string> variables{};  // "TYPE NAME"
};

// In the process of Options::pids, or, without one, in the files that the probes name. `options` has the script's requests.
Result<std::vector<ListedPlace>> list_places(const script::Script& script, const Options& options,
                                             bool with_variables);

}  // namespace blip::session
