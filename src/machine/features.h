// SPDX-License-Identifier: MIT
// What /proc/cpuinfo and the processor say of what it can do.
#pragma once

#include <span>
#include <string_view>

namespace blip::machine {

extern const std::string_view kFeatureLine;  // begins the line of /proc/cpuinfo that lists features
extern const std::span<const std::string_view>
    kClockFeatures;                                 // with all of them the cycle counter can be used
extern const std::string_view kShadowStackFeature;  // empty: blip knows no shadow stack here

// Memory protection keys are switched on.
bool has_protection_keys();

}  // namespace blip::machine
