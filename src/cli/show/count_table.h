// SPDX-License-Identifier: MIT
// What `blip count` prints at its end.
#pragma once

#include <string>
#include <vector>

#include "session/process/summary.h"

namespace blip::cli {

// The most often hit first; equals keep the order asked for. Then every instruction of what was asked for so,
// in the order of addresses. MODULE is shown when a name occurs in two modules. `width`: of the terminal;
// 0: names are not cut.
std::string count_table(std::vector<session::ProbeCount> counts, bool color = false, size_t width = 0);

// One object per line, in the order asked for.
std::string count_json(const std::vector<session::ProbeCount>& counts);

}  // namespace blip::cli
