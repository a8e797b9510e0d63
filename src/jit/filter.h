// SPDX-License-Identifier: MIT
// Which returns are worth an event: comparisons of a call's values with numbers, put together. Parsed from
// what the user wrote, compiled into pads (filter_code.h), and evaluated here as the second opinion.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace blip::jit {

enum class FilterField : uint8_t { kResult, kLatency, kDepth, kTail };
enum class FilterType : uint8_t { kUnsigned, kLong, kInt };  // how its bits are taken: 64 bits, or the low 32
enum class FilterOp : uint8_t {
  kAnd,
  kOr,
  kNot,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual
};

// kAnd, kOr and kNot have operands, which come earlier in the list; the others compare field and value.
struct FilterNode {
  FilterOp op;
  uint32_t left = 0, right = 0;
  FilterField field = FilterField::kResult;
  FilterType type = FilterType::kUnsigned;
  uint64_t value = 0;  // sign-extended

  bool operator==(const FilterNode&) const = default;
};

// The last node is the whole; none: everything passes.
using Filter = std::vector<FilterNode>;

struct FilterValues {
  uint64_t result = 0, latency = 0, depth = 0, tail = 0;
};

// latency_ns > 1000 && !(ret == 0 || depth >= 2); ret may be taken as (int)ret or (long)ret. Errors show
// where, with a caret in a line of its own.
Result<Filter> parse_filter(std::string_view text);

bool passes(const Filter& filter, const FilterValues& values);
bool mentions(const Filter& filter, FilterField field);

// The same for latencies in units of `rate` ns times 2^48, exactly: what would be converted to a latency that
// passes, passes.
Filter in_clock_units(const Filter& filter, uint64_t rate);

}  // namespace blip::jit
