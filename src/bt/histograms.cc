// SPDX-License-Identifier: MIT
#include "bt/histograms.h"

#include <fmt/format.h>

#include <algorithm>

namespace blip::bt {

namespace {

struct Used {
  size_t first, last;
};

std::optional<Used> used_buckets(const std::vector<uint64_t>& buckets) {
  std::optional<Used> used;
  for (size_t i = 0; i < buckets.size(); ++i) {
    if (buckets[i] == 0) continue;
    if (!used) used = Used{i, i};
    used->last = i;
  }
  return used;
}

Shown number(int64_t n) { return {n}; }

// Bucket 0 is for what is below 0. Then come 2^bits buckets for single numbers, twice, then 2^bits for each power of two.
Shown log_label(size_t index, uint32_t bits) {
  const uint64_t n = uint64_t{1} << bits;
  if (index <= 2 * n) return number(static_cast<int64_t>(index));
  const uint64_t interval = index & (n - 1);
  uint64_t power = (index >> bits) - 1;
  const uint64_t value = (uint64_t{1} << power) * (n + interval);
  const uint64_t decade = power / 10;
  power -= 10 * decade;
  std::string name = fmt::format("{}", (uint64_t{1} << power) * (n + interval));
  if (decade > 0) name += std::string_view(" KMGTPE")[decade];
  return {Shown::Symbol{name, value}};
}

Shown linear_label(int64_t n, int64_t step) {
  constexpr int64_t kKilo = 1024, kMega = kKilo * kKilo;
  if (step % kKilo != 0) return number(n);
  std::string name = fmt::format("{}", n);
  if (n != 0 && n % kMega == 0)
    name = fmt::format("{}M", n / kMega);
  else if (n != 0 && n % kKilo == 0)
    name = fmt::format("{}K", n / kKilo);
  return {Shown::Symbol{name, static_cast<uint64_t>(n)}};
}

}  // namespace

ShownHistogram show_hist(const std::vector<uint64_t>& buckets, uint32_t bits, uint64_t divisor) {
  ShownHistogram result;
  const auto used = used_buckets(buckets);
  if (!used) return result;
  const uint64_t singles = uint64_t{2} << bits;
  if (used->first != 0)
    result.lower = used->first - 1 <= singles ? number(static_cast<int64_t>(used->first - 1))
                                              : log_label(used->first - 1, bits);
  for (size_t i = used->first; i <= used->last; ++i) {
    result.labels.push_back(i == 0 ? number(0) : log_label(i, bits));
    result.counts.push_back(buckets[i] / std::max<uint64_t>(1, divisor));
  }
  return result;
}

ShownHistogram show_lhist(const std::vector<uint64_t>& buckets, const MapShape& shape) {
  ShownHistogram result;
  const auto used = used_buckets(buckets);
  if (!used) return result;
  const auto bound = [&](size_t i) { return shape.low + static_cast<int64_t>(i) * shape.step; };
  if (used->first != 0) result.lower = linear_label(bound(used->first - 1), shape.step);
  for (size_t i = used->first; i <= used->last; ++i) {
    if (bound(i) <= shape.high) result.labels.push_back(linear_label(bound(i), shape.step));
    result.counts.push_back(buckets[i]);
  }
  return result;
}

}  // namespace blip::bt
