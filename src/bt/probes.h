// SPDX-License-Identifier: MIT
// From "uprobe:./server:handle" to a probe that a session can find.
#pragma once

#include <string_view>

#include "base/result.h"
#include "bt/tree.h"
#include "script/front/script.h"

namespace blip::bt {

// An attach point may stand for several: uprobe:a:f,... does not, a duration list does. What only the kernel has is refused.
Result<script::WantedProbe> parse_probe(std::string_view source, const AttachPoint& point);

// True: its handlers run in blip when something happens there, and see no target.
bool runs_without_hit(const script::WantedProbe& probe);

}  // namespace blip::bt
