// SPDX-License-Identifier: MIT
// --args, --locals, --capture, --filter: what belongs to the probe before it, or to all when it comes before
// the first.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/option_table.h"
#include "cli/options/spread.h"
#include "session/plan/options.h"

namespace blip::cli {

class ProbeData {
 public:
  using Probes = std::vector<session::ProbeRequest>;

  // `probes`: those so far.
  Status apply(OptionId option, const std::string& value, Probes& probes);
  // Gives all probes what came before the first.
  Status finish(Probes& probes) const;
  GivenFirst given_first() const;

 private:
  void spread_filter(Probes& probes) const;

  session::DataRequest for_all_;
};

}  // namespace blip::cli
