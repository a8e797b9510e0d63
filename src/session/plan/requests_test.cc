// SPDX-License-Identifier: MIT
#include "session/plan/requests.h"

#include <gtest/gtest.h>

#include "session/plan/test_sample.h"

namespace blip::session {
namespace {

using test::entry;
using test::returns;

TEST(Requests, what_requests_ask_for) {
  const auto with_context = [](const ContextRow& row) {
    ProbeRequest request = entry("work");
    request.contexts.push_back({.row = &row});
    return request;
  };
  const struct {
    const char* what;
    ProbeRequest request;
    bool data, shown, stack, of_entry;
  } cases[] = {
      {"nothing", entry("work"), false, false, false, false},
      {"a filter", entry("work", {.condition = "entry"}), true, false, false, false},
      {"arguments", entry("work", {.args = true}), true, true, false, false},
      {"locals", entry("work", {.locals = true}), true, true, false, false},
      {"a capture", entry("work", {.captures = {"n"}}), true, true, false, false},
      {"a thread", with_context(contexts::kTid), false, false, false, false},
      {"memory", with_context(contexts::kMemory), true, true, false, false},
      {"a backtrace", with_context(contexts::kBacktrace), false, false, true, false},
      {"a return", returns("work"), false, false, false, false},
      {"a return with arguments", returns("work", {.args = true}), true, true, false, true},
      {"a filter of the entry", returns("work", {.condition = "entry(n) > 1"}), true, false, false, true},
      {"a capture of it", returns("work", {.captures = {"ret", "entry(n)"}}), true, true, false, true},
      {"a capture of the return", returns("work", {.captures = {"ret"}}), true, true, false, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(asks_for_data(c.request), c.data) << c.what;
    EXPECT_EQ(shows_data(c.request), c.shown) << c.what;
    EXPECT_EQ(asks_for_stack(c.request), c.stack) << c.what;
    EXPECT_EQ(asks_for_entry(c.request), c.of_entry) << c.what;
  }
}

}  // namespace
}  // namespace blip::session
