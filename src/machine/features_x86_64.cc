// SPDX-License-Identifier: MIT
#include "machine/features.h"

#include <cpuid.h>

#include <array>

namespace blip::machine {

namespace {

// The counter runs at one speed, also in sleep states, and can be read with the CPU's number.
constexpr std::array<std::string_view, 3> kClock = {"constant_tsc", "nonstop_tsc", "rdtscp"};

}  // namespace

const std::string_view kFeatureLine = "flags";
const std::span<const std::string_view> kClockFeatures = kClock;
const std::string_view kShadowStackFeature = "user_shstk";

bool has_protection_keys() {
  constexpr unsigned kOspke = 1 << 4;  // CPUID leaf 7, ECX
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & kOspke) != 0;
}

}  // namespace blip::machine
