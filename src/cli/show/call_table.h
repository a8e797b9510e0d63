// SPDX-License-Identifier: MIT
// How long calls took: what `blip count --latency` prints at its end, and `blip record --return`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session/process/summary.h"

namespace blip::cli {

// Three digits that matter and a unit: 7 ns, 12.3 us, 1.20 ms, 61.0 s.
std::string duration_text(uint64_t ns);

// The largest total first; equals keep the order asked for. MODULE is shown when a name occurs in two
// modules. Times of functions without calls, and what is not known, are "-".
// If there are more functions than `rows`, the table ends with the number of the others.
struct TableLimits {
  size_t rows = SIZE_MAX;
  size_t width = 0;  // of the terminal; 0: names are not cut
};
std::string call_table(std::vector<session::CallSummary> calls, bool color = false,
                       const TableLimits& limits = {});

// One object per line, in the order asked for, times in ns. What is not known is null.
std::string call_json(const std::vector<session::CallSummary>& calls);

}  // namespace blip::cli
