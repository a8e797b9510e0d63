// SPDX-License-Identifier: MIT
// What numbers come to. Sums wrap around, as in both languages.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "state/types.h"

namespace blip::state {

struct Stats {
  uint64_t count = 0, sum = 0, min = 0, max = 0;  // min and max by the map's sign
  std::vector<uint64_t> buckets;                  // empty until the first number
  uint64_t mean = 0, squares = 0;                 // of maps with a variance: shifted, by Welford's way

  void add(const MapType& type, uint64_t value);
  // Of no numbers, count and sum are 0, and there is nothing else. The average is cut towards 0; the variance is
  // SystemTap's, of integers.
  std::optional<uint64_t> get(const MapType& type, Statistic what) const;

  bool operator==(const Stats&) const = default;
};

}  // namespace blip::state
