// SPDX-License-Identifier: MIT
#include "jit/filter.h"

namespace blip::jit {

namespace {

template <typename Int>
bool compare(FilterOp op, Int a, Int b) {
  switch (op) {
    case FilterOp::kEqual:
      return a == b;
    case FilterOp::kNotEqual:
      return a != b;
    case FilterOp::kLess:
      return a < b;
    case FilterOp::kLessEqual:
      return a <= b;
    case FilterOp::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

uint64_t value_of(FilterField field, const FilterValues& values) {
  switch (field) {
    case FilterField::kResult:
      return values.result;
    case FilterField::kLatency:
      return values.latency;
    case FilterField::kDepth:
      return values.depth;
    case FilterField::kTail:
      break;
  }
  return values.tail;
}

bool passes_at(const Filter& filter, uint32_t at, const FilterValues& values) {
  const FilterNode& n = filter[at];
  if (n.op == FilterOp::kAnd) return passes_at(filter, n.left, values) && passes_at(filter, n.right, values);
  if (n.op == FilterOp::kOr) return passes_at(filter, n.left, values) || passes_at(filter, n.right, values);
  if (n.op == FilterOp::kNot) return !passes_at(filter, n.left, values);
  const uint64_t value = value_of(n.field, values);
  if (n.type == FilterType::kUnsigned) return compare(n.op, value, n.value);
  const auto taken =
      n.type == FilterType::kInt ? int64_t{static_cast<int32_t>(value)} : static_cast<int64_t>(value);
  return compare(n.op, taken, static_cast<int64_t>(n.value));
}

constexpr unsigned kRateShift = 48;
__extension__ using Wide = unsigned __int128;

// The least number of units that are `ns`, or more.
uint64_t first_unit(uint64_t ns, uint64_t rate) {
  const Wide wanted = static_cast<Wide>(ns) << kRateShift;
  const Wide units = (wanted + rate - 1) / rate;
  return units > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(units);
}

// The latency is at least `ns`; with kLess: less than that.
FilterNode bound(FilterOp op, uint64_t ns, uint64_t rate) {
  return {.op = op, .field = FilterField::kLatency, .value = first_unit(ns, rate)};
}

}  // namespace

bool passes(const Filter& filter, const FilterValues& values) {
  return filter.empty() || passes_at(filter, static_cast<uint32_t>(filter.size() - 1), values);
}

bool mentions(const Filter& filter, FilterField field) {
  for (const FilterNode& n : filter)
    if (n.op >= FilterOp::kEqual && n.field == field) return true;
  return false;
}

Filter in_clock_units(const Filter& filter, uint64_t rate) {
  Filter result;
  std::vector<uint32_t> place;  // of each node of `filter` in the result
  const auto add = [&](FilterNode node) {
    result.push_back(node);
    return static_cast<uint32_t>(result.size() - 1);
  };
  const auto both = [&](FilterOp op, FilterNode a, FilterNode b) {
    const uint32_t left = add(a), right = add(b);
    return add({.op = op, .left = left, .right = right});
  };
  constexpr FilterOp kAtLeast = FilterOp::kGreaterEqual, kBelow = FilterOp::kLess;
  for (FilterNode n : filter) {
    const uint64_t next = n.value == UINT64_MAX ? n.value : n.value + 1;
    if (n.op < FilterOp::kEqual) {
      n.left = place[n.left];
      if (n.op != FilterOp::kNot) n.right = place[n.right];
      place.push_back(add(n));
    } else if (n.field != FilterField::kLatency) {
      place.push_back(add(n));
    } else if (n.op == FilterOp::kEqual) {
      place.push_back(both(FilterOp::kAnd, bound(kAtLeast, n.value, rate), bound(kBelow, next, rate)));
    } else if (n.op == FilterOp::kNotEqual) {
      place.push_back(both(FilterOp::kOr, bound(kBelow, n.value, rate), bound(kAtLeast, next, rate)));
    } else {
      const bool strict = n.op == FilterOp::kGreater || n.op == FilterOp::kLessEqual;
      const bool above = n.op == FilterOp::kGreater || n.op == FilterOp::kGreaterEqual;
      place.push_back(add(bound(above ? kAtLeast : kBelow, strict ? next : n.value, rate)));
    }
  }
  return result;
}

}  // namespace blip::jit
