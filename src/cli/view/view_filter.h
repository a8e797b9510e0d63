// SPDX-License-Identifier: MIT
// Which events of a stored trace are shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cli/options/trace_time.h"
#include "cli/options/view_selection.h"

namespace blip::cli {

// How many events there were, and how many of them passed.
struct ViewTotals {
  uint64_t shown = 0;
  uint64_t read = 0;
  uint64_t without_thread = 0;  // left out because they do not tell theirs
  bool name_matched = false;
  enum class Stop { kNo, kHead, kTo } stop = Stop::kNo;  // why the rest was not read
};

class ViewFilter {
 public:
  explicit ViewFilter(const ViewSelection& selection) : selection_(selection) {}

  // Tells the span of the trace, if somebody looked for it. Otherwise the trace begins with the first event.
  void know(const TraceSpan& span) { span_ = span; }

  // Events in the order of time; `thread` none: not told. Nothing more is wanted after `stop`.
  bool shows(std::string_view name, std::optional<int64_t> thread, std::optional<int64_t> time_ns);
  // False if no event between these times can pass.
  bool overlaps(int64_t from_ns, int64_t to_ns) const;
  bool stopped() const { return totals_.stop != ViewTotals::Stop::kNo; }
  const ViewTotals& totals() const { return totals_; }

 private:
  void begin_at(int64_t time_ns);
  bool is_in_time(std::optional<int64_t> time_ns);
  bool is_of_thread(std::optional<int64_t> thread);
  bool is_called(std::string_view name);

  const ViewSelection& selection_;
  std::optional<TraceSpan> span_;
  std::optional<int64_t> from_ns_, to_ns_;
  bool began_ = false;
  std::unordered_map<std::string, bool> names_;  // which were looked at, and match
  ViewTotals totals_;
};

// `wanted` is a name or a glob: `f`, `f:return`, a place in it (`f+0x12`) and its copies (`f (inlined in g)`)
// are `f`'s; so is `ns::f`, and with parameters `f(int)`.
bool event_is_of(std::string_view name, std::string_view wanted);

// How many were shown, for stderr.
std::string totals_line(const ViewTotals& totals);

}  // namespace blip::cli
