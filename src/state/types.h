// SPDX-License-Identifier: MIT
// What the globals of a script are: their keys, values, limits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace blip::state {

enum class ValueType : uint8_t {
  kNone,
  kNumber,  // 64 bits; a map says whether they are signed
  kText,    // any bytes, as many as the program allows
  kStats,   // what was added, summed up: only the value of a map
};

// The buckets that numbers are sorted into. Both languages have their own.
struct Histogram {
  enum class Kind : uint8_t {
    kNone,
    kHist,        // bpftrace's hist(n, bits): below 0, 0, then 2^bits buckets for each power of two
    kLhist,       // bpftrace's lhist(n, low, high, step): below low, steps, high and above
    kHistLog,     // SystemTap's @hist_log: powers of two on both sides of 0
    kHistLinear,  // SystemTap's @hist_linear(low, high, step): below low, steps, above high
  } kind = Kind::kNone;
  uint32_t bits = 0;
  int64_t low = 0, high = 0, step = 1;

  bool operator==(const Histogram&) const = default;
};

// What happens to a new key if the map has `limit` keys.
enum class WhenFull : uint8_t {
  kFail,           // the handler fails: SystemTap's arrays
  kDrop,           // the value is dropped and counted: bpftrace's maps
  kReplaceOldest,  // the key that was put first makes room: SystemTap's arrays with a %
};

// Where a map lives, and so which uses the target may make of it.
enum class MapKind : uint8_t {
  kKept,   // in blip only
  kTally,  // in the target only updates whose result nobody looks at
  kOwn,    // each thread uses its own keys only
};

// A global; a scalar is a map without keys.
struct MapType {
  std::string name;
  std::vector<ValueType> key{};  // components: numbers and texts
  ValueType value = ValueType::kNumber;
  Histogram histogram{};  // of stats
  bool is_unsigned = false;
  bool has_variance = false;   // of stats: Statistic::kVariance is asked for
  uint8_t variance_shift = 0;  // bits behind the point while it is computed
  uint32_t limit = 1;
  WhenFull when_full = WhenFull::kFail;
  MapKind kind = MapKind::kKept;

  bool operator==(const MapType&) const = default;
};

// What may be asked of stats.
enum class Statistic : uint8_t { kCount, kSum, kMin, kMax, kAverage, kVariance };

// The order in which a map is walked. Equal ones stay in the order in which they were put in.
struct Order {
  enum class By : uint8_t {
    kAge,        // as they were put in
    kKey,        // component `which`
    kValue,      // a number or a text
    kStatistic,  // Statistic `which`, of stats
  } by = By::kAge;
  uint8_t which = 0;
  bool is_descending = false;

  bool operator==(const Order&) const = default;
};

inline constexpr size_t kMaxKey = 9;              // components
inline constexpr uint32_t kMaxEntries = 1 << 24;  // of one map
inline constexpr int64_t kMaxLinear = 1000;       // steps of a linear histogram
inline constexpr uint32_t kMaxHistogramBits = 5;

}  // namespace blip::state
