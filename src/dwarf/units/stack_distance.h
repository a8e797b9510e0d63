// SPDX-License-Identifier: MIT
// Computes where places are on the stack, as far as their codes show it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "script/types/scope.h"

namespace blip::dwarf {

// At a function's entry rbp is the caller's: what is told by it is told for what comes later.
inline constexpr int64_t kFarBelow = -(int64_t{1} << 40);

// The distance of each node of a code from rsp, at least; nullopt if the node is no such sum. `rbp`: its
// distance from rsp, if that is known.
std::vector<std::optional<int64_t>> distances_from_rsp(const script::Code& code,
                                                       std::optional<int64_t> rbp = std::nullopt);

// The place without what lies below the red zone: signal handlers and pads write there.
script::Place without_lost(script::Place place, std::optional<int64_t> rbp = std::nullopt);

}  // namespace blip::dwarf
