// SPDX-License-Identifier: MIT
#pragma once

#include "bt/shapes.h"
#include "bt/shown.h"

namespace blip::bt {

// Buckets as state/histogram.h has them.
ShownHistogram show_hist(const std::vector<uint64_t>& buckets, uint32_t bits, uint64_t divisor);
ShownHistogram show_lhist(const std::vector<uint64_t>& buckets, const MapShape& shape);

}  // namespace blip::bt
