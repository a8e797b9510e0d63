// SPDX-License-Identifier: MIT
// From probe points to what the session is asked for.
#pragma once

#include "base/result.h"
#include "script/front/script.h"
#include "stap/tree.h"

namespace blip::stap {

// An error tells what is wrong with the point, or that blip has no such probes and why.
Result<script::WantedProbe> wanted_probe(const ProbePoint& point);

// Of begin, end and error: those with smaller numbers run first.
int64_t sequence_of(const ProbePoint& point);

}  // namespace blip::stap
