// SPDX-License-Identifier: MIT
// Moments of a stored trace, as --from and --to name them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace blip::cli {

// Nanoseconds since 1970, UTC: of the first event of a trace and of the last one.
struct TraceSpan {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

class TraceTime {
 public:
  // "1.5s", "20ms": after the begin. "-2s": before the end. "14:03:07.25": a time of day, as `blip view`
  // shows it. "2026-01-31 14:03:07.25", also with a T between: a date, local, or UTC with a Z behind.
  // "@1700000000.25": seconds since 1970; without a point and with 16 digits or more nanoseconds, as in JSON.
  static Result<TraceTime> parse(std::string_view text);

  // The last event of the trace must be known for at_ns().
  bool needs_end() const { return kind_ == Kind::kBeforeEnd || kind_ == Kind::kTimeOfDay; }
  int64_t at_ns(const TraceSpan& span) const;

 private:
  enum class Kind { kAfterBegin, kBeforeEnd, kTimeOfDay, kAbsolute };
  TraceTime(Kind kind, int64_t ns) : kind_(kind), ns_(ns) {}

  Kind kind_;
  int64_t ns_;  // kAbsolute: since 1970; kTimeOfDay: since midnight
};

}  // namespace blip::cli
