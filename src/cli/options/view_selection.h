// SPDX-License-Identifier: MIT
// Which events of a stored trace the user wants to see.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/trace_time.h"

namespace blip::cli {

// As it was asked for; an event is shown if it passes all of it.
struct ViewSelection {
  std::vector<std::string> functions;  // names and globs, of which one must match; empty: all
  std::vector<int64_t> threads;        // likewise
  std::optional<TraceTime> from, to;   // both included
  std::optional<uint64_t> head;        // so many at most

  bool is_all() const { return functions.empty() && threads.empty() && !from && !to && !head; }
  bool needs_end() const { return (from && from->needs_end()) || (to && to->needs_end()); }
};

}  // namespace blip::cli
