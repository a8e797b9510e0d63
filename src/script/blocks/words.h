// SPDX-License-Identifier: MIT
// The words of the text form that the parser and the printer share.
#pragma once

#include <array>
#include <string_view>

#include "script/blocks/blocks.h"

namespace blip::script::words {

// Each in the order of its enumeration.
inline constexpr std::array<std::string_view, 4> kTypes = {"none", "i64", "str", "stats"};
inline constexpr std::array<std::string_view, 5> kHistograms = {"none", "hist", "lhist", "hist_log",
                                                                "hist_linear"};
inline constexpr std::array<std::string_view, 3> kWhenFull = {"fail", "drop", "replace"};
inline constexpr std::array<std::string_view, 3> kMapKinds = {"kept", "tally", "own"};
inline constexpr std::array<std::string_view, 3> kPlaces = {"blip", "target", "hit"};
inline constexpr std::array<std::string_view, 6> kStatistics = {"count", "sum",     "min",
                                                                "max",   "average", "variance"};
inline constexpr std::array<std::string_view, 4> kOrders = {"age", "key", "value", "statistic"};
inline constexpr std::array<std::string_view, 5> kTerminators = {"return", "jump", "branch", "switch",
                                                                 "fail"};

}  // namespace blip::script::words
