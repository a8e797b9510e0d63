// SPDX-License-Identifier: MIT
// What a trace is for, by its consequences. Who needs to know asks here; nobody else compares modes.
#pragma once

#include "session/plan/options.h"

namespace blip::session {

// Hits leave records, which become events. Otherwise they are only counted.
inline bool makes_events(const Options& options) { return options.mode != Mode::kCount; }
// Nothing is kept of a hit but that there was one.
inline bool counts_hits(const Options& options) { return options.mode == Mode::kCount && !options.latencies; }
// Events go to files, for readers who know nothing of the process.
inline bool writes_files(const Options& options) { return options.mode == Mode::kRecord; }
// Events go to a reader who looks on while the process is there.
inline bool shows_events(const Options& options) { return options.mode == Mode::kTrace; }

}  // namespace blip::session
