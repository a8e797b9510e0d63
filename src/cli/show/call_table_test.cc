// SPDX-License-Identifier: MIT
#include "cli/show/call_table.h"

#include <gtest/gtest.h>

namespace blip::cli {
namespace {

using session::CallSummary;

TEST(CallTable, durations_have_three_digits_and_a_unit) {
  const std::pair<uint64_t, const char*> kCases[] = {{0, "0 ns"},
                                                     {999, "999 ns"},
                                                     {1000, "1.00 us"},
                                                     {9994, "9.99 us"},
                                                     {9995, "10.0 us"},
                                                     {99'949, "99.9 us"},
                                                     {99'950, "100 us"},
                                                     {999'499, "999 us"},
                                                     {999'500, "1.00 ms"},
                                                     {12'345'678, "12.3 ms"},
                                                     {999'500'000, "1.00 s"},
                                                     {61'000'000'000, "61.0 s"},
                                                     {7'200'000'000'000, "7200 s"}};
  for (const auto& [ns, text] : kCases) EXPECT_EQ(duration_text(ns), text) << ns;
}

const std::vector<CallSummary> kCalls = {{.name = "idle", .module = "a.out", .open = 1},
                                         {.name = "fast",
                                          .module = "a.out",
                                          .calls = 1000,
                                          .total_ns = 50'000,
                                          .mean_ns = 50,
                                          .p50_ns = 47,
                                          .p99_ns = 103,
                                          .max_ns = 1200,
                                          .abandoned = 3,
                                          .open = 0},
                                         {.name = "slow",
                                          .module = "a.out",
                                          .calls = 2,
                                          .total_ns = 100'000'000,
                                          .mean_ns = 50'000'000,
                                          .p50_ns = 51'000'000,
                                          .p99_ns = 51'000'000,
                                          .max_ns = 51'000'000}};

TEST(CallTable, the_largest_total_comes_first) {
  EXPECT_EQ(call_table(kCalls),
            "NAME  CALLS    TOTAL     MEAN      P50      P99      MAX  ABANDONED  OPEN\n"
            "slow      2   100 ms  50.0 ms  51.0 ms  51.0 ms  51.0 ms          0     -\n"
            "fast   1000  50.0 us    50 ns    47 ns   103 ns  1.20 us          3     0\n"
            "idle      0        -        -        -        -        -          0     1\n");
}

TEST(CallTable, a_long_one_may_be_cut) {
  const std::string whole = call_table(kCalls);
  EXPECT_EQ(call_table(kCalls, false, {.rows = 2}), whole.substr(0, whole.rfind("idle")) + "(1 more)\n");
  EXPECT_EQ(call_table(kCalls, false, {.rows = 3}), whole);
}

TEST(CallTable, modules_are_shown_where_names_need_them) {
  std::vector<CallSummary> calls = kCalls;
  calls.push_back({.name = "slow", .module = "libz.so.1", .calls = 1});
  EXPECT_NE(call_table(calls).find("libz.so.1"), std::string::npos);
  EXPECT_EQ(call_table(kCalls).find("a.out"), std::string::npos);
}

TEST(CallTable, json_has_nanoseconds_in_the_order_asked_for) {
  EXPECT_EQ(call_json({kCalls[1], kCalls[2]}),
            "{\"v\":1,\"kind\":\"latency\",\"name\":\"fast\",\"module\":\"a.out\",\"calls\":1000,\"total_"
            "ns\":50000,\"mean_ns\":50,"
            "\"p50_ns\":47,\"p99_ns\":103,\"max_ns\":1200,\"abandoned\":3,\"open\":0}\n"
            "{\"v\":1,\"kind\":\"latency\",\"name\":\"slow\",\"module\":\"a.out\",\"calls\":2,\"total_ns\":"
            "100000000,\"mean_ns\":50000000,"
            "\"p50_ns\":51000000,\"p99_ns\":51000000,\"max_ns\":51000000,\"abandoned\":0,\"open\":null}\n");
}

}  // namespace
}  // namespace blip::cli
