// SPDX-License-Identifier: MIT
#include "x86/runs.h"

namespace blip::x86 {

namespace {

// Longer runs save jumps, but a signal frame or a thread inside one delays arming.
constexpr uint64_t kMaxRun = 40;

// Makes one of two; with room of its own it needs less padding.
void absorb(Run& run, const Run& next) {
  run.start = std::min(run.start, next.start);
  run.end = next.end;
  const uint64_t missing = run.size() < kJumpLength ? kJumpLength - run.size() : 0;
  run.padding = static_cast<uint8_t>(std::min<uint64_t>(next.padding, missing));
}

}  // namespace

Run RunFinder::forward(TargetAddr start, uint64_t wanted) const {
  Run run{start, start + map_.length(start)};
  TargetAddr last = start;
  while (run.size() < wanted && joins(last, run.end)) {
    last = run.end;
    run.end = last + map_.length(last);
  }
  if (map_.ends_flow(last))
    while (run.size() + run.padding < wanted && map_.is_dead(run.end + run.padding)) ++run.padding;
  return run;
}

Run RunFinder::around(TargetAddr point) const {
  const Run ahead = forward(point, kJumpLength);
  Run run = ahead;
  while (!run.fits_jump()) {
    const TargetAddr before = map_.previous(run.start);
    if (before == run.start || !is_movable(before) || !joins(before, run.start) || run.end - before > kMaxRun)
      return ahead.size() >= kJumpLength ? ahead : run;
    run.start = before;
  }
  return run;
}

// True if `next` follows at once and nothing arrives between.
bool RunFinder::is_continued(const Run& run, const Run& next) const {
  return run.fits_jump() && run.end == next.start && run.padding == 0 &&
         joins(map_.previous(next.start), next.start) && next.end - run.start <= kMaxRun;
}

std::vector<Run> RunFinder::covering(std::span<const TargetAddr> points) const {
  std::vector<Run> runs;
  for (const TargetAddr point : points) {
    if (!runs.empty() && point < runs.back().end) continue;
    const Run run = around(point);
    if (!runs.empty() && (run.start < runs.back().end || is_continued(runs.back(), run))) {
      absorb(runs.back(), run);
      // A run that was large enough for two may have swallowed the one before.
      while (runs.size() > 1 && runs.back().start < runs[runs.size() - 2].end) {
        absorb(runs[runs.size() - 2], runs.back());
        runs.pop_back();
      }
      continue;
    }
    runs.push_back(run);
  }
  return runs;
}

void RunFinder::close_gaps(std::span<Run> runs, const std::function<bool(TargetAddr)>& is_taken) const {
  for (size_t i = 0; i + 1 < runs.size(); ++i) {
    const TargetAddr gap = runs[i].end;
    Run& next = runs[i + 1];
    if (runs[i].owned() > 1 || gap >= next.start || next.end - gap > kMaxRun) continue;
    if (map_.length(gap) == 0 || !map_.is_reached(gap) || !is_movable(gap)) continue;
    bool is_free = true;
    for (TargetAddr a = gap; a < next.start; a = a + 1) is_free &= !is_taken(a);
    Run wider{gap, gap};
    if (forward(gap, next.end - gap).end != next.end) continue;
    absorb(wider, next);
    if (is_free && wider.fits_jump()) next = wider;
  }
}

}  // namespace blip::x86
