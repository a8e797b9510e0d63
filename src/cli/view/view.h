// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "base/result.h"
#include "cli/view/view_filter.h"

namespace blip::cli {

enum class ViewColor { kAuto, kAlways, kNever };

struct ViewStyle {
  ViewColor color = ViewColor::kAuto;
  bool json = false;  // lines of JSON (event_json.h)
  bool hex = false;   // integers of the program in base 16
  ViewSelection selection{};
};

// Prints the trace in `dir` to stdout in lines like those of `babeltrace2 DIR` (libbabeltrace2 reads it),
// with values as `blip trace` shows them; what was discarded is told on stderr. Ctrl-C
// is a normal end. A reader that closes the pipe ends the program by SIGPIPE, quietly. Fails if `dir` does
// not exist, holds no trace, or holds a damaged one.
Result<ViewTotals> view_trace(const std::string& dir, const ViewStyle& style = {});

}  // namespace blip::cli
