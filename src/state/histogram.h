// SPDX-License-Identifier: MIT
// Which bucket a number falls into. The kinds of types.h are those of the two languages, to the bucket.
#pragma once

#include <cstddef>

#include "state/types.h"

namespace blip::state {

// 0 if there is no histogram.
size_t count_buckets(const Histogram& histogram);

size_t bucket_of(const Histogram& histogram, int64_t value);

}  // namespace blip::state
