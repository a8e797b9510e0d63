// SPDX-License-Identifier: MIT
#include "machine/features.h"

#include <sys/auxv.h>

namespace blip::machine {

// The architecture demands a counter of one speed that user code can read.
const std::string_view kFeatureLine = "Features";
const std::span<const std::string_view> kClockFeatures = {};
const std::string_view kShadowStackFeature = "";

bool has_protection_keys() {
  constexpr unsigned long kPermissionOverlays = 1UL << 63;  // HWCAP2_POE
  return (::getauxval(AT_HWCAP2) & kPermissionOverlays) != 0;
}

}  // namespace blip::machine
