// SPDX-License-Identifier: MIT
// Tells where and by whom a trace was made, and what blip itself used.
#pragma once

#include "ctf/schema.h"
#include "session/plan/options.h"

namespace blip::session {

// All but the process's name and pid and the clock's offset.
ctf::TraceInfo trace_info(const Options& options);

// Times of events are CLOCK_MONOTONIC: asked for, or because the TSC cannot be used.
bool records_monotonic_time(const Options& options);

// From exec of blip, so that the dynamic linker's work counts too.
double since_process_start_ms();

// CPU time of blip so far.
double cpu_seconds();

}  // namespace blip::session
