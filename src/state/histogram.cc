// SPDX-License-Identifier: MIT
//     hist, 0 bits   | below 0 | 0 | 1 | 2..3 | 4..7 | ...
//     hist, 1 bit    | below 0 | 0 | 1 | 2 | 3 | 4..5 | 6..7 | 8..11 | ...
//     lhist          | below low | step | step | ... | high and above
//     hist_log       | ... | -3..-2 | -1 | 0 | 1 | 2..3 | ...     0 is bucket 64 of 128
//     hist_linear    | below low | step | ... | the step that begins at high | above
#include "state/histogram.h"

#include <algorithm>
#include <bit>

namespace blip::state {

namespace {

constexpr size_t kLogBuckets = 128, kLogZero = 64;

// a - b, where a is not less.
uint64_t distance(int64_t a, int64_t b) { return static_cast<uint64_t>(a) - static_cast<uint64_t>(b); }

size_t steps(const Histogram& h) { return distance(h.high, h.low) / static_cast<uint64_t>(h.step); }

size_t step_of(const Histogram& h, int64_t value) {
  return 1 + distance(value, h.low) / static_cast<uint64_t>(h.step);
}

// The first `bits` bits below the highest one tell the buckets of one power of two apart.
size_t bucket_of_hist(unsigned bits, int64_t value) {
  if (value < 0) return 0;
  const auto n = static_cast<uint64_t>(value);
  if (n < uint64_t{1} << bits) return n + 1;
  const unsigned shift = static_cast<unsigned>(std::bit_width(n)) - 1 - bits;
  const uint64_t below = (n >> shift) & ((uint64_t{1} << bits) - 1);
  return ((uint64_t{shift} + 1) << bits) + below + 1;
}

size_t bucket_of_log(int64_t value) {
  const auto n = static_cast<uint64_t>(value);
  if (value >= 0) return kLogZero + static_cast<size_t>(std::bit_width(n));
  return kLogZero - static_cast<size_t>(std::bit_width(0 - n));
}

}  // namespace

size_t count_buckets(const Histogram& h) {
  constexpr size_t kBits = 64;
  switch (h.kind) {
    case Histogram::Kind::kNone:
      return 0;
    case Histogram::Kind::kHist:
      return ((kBits - h.bits) << h.bits) + 1;
    case Histogram::Kind::kLhist:
      return steps(h) + 2;
    case Histogram::Kind::kHistLog:
      return kLogBuckets;
    case Histogram::Kind::kHistLinear:
      return steps(h) + 3;
  }
  return 0;
}

size_t bucket_of(const Histogram& h, int64_t value) {
  switch (h.kind) {
    case Histogram::Kind::kNone:
      return 0;
    case Histogram::Kind::kHist:
      return bucket_of_hist(h.bits, value);
    case Histogram::Kind::kHistLog:
      return bucket_of_log(value);
    case Histogram::Kind::kLhist:
    case Histogram::Kind::kHistLinear:
      return value < h.low ? 0 : std::min(step_of(h, value), count_buckets(h) - 1);
  }
  return 0;
}

}  // namespace blip::state
