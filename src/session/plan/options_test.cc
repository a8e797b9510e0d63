// SPDX-License-Identifier: MIT
#include "session/plan/options.h"

#include <gtest/gtest.h>

#include <iterator>

namespace blip::session {
namespace {

TEST(Options, which_events_tell_their_thread) {
  const struct {
    Mode mode;
    bool no_tid, expected;
  } cases[] = {{Mode::kTrace, true, true},
               {Mode::kRecord, false, true},
               {Mode::kRecord, true, false},
               {Mode::kCount, false, false}};
  for (const auto& c : cases) EXPECT_EQ(stores_tid({.mode = c.mode, .no_tid = c.no_tid}), c.expected);
}

TEST(Options, requests_that_differ_in_anything_are_not_the_same) {
  using Change = void (*)(ProbeRequest&);
  const Change changes[] = {
      [](ProbeRequest& r) { r.kind = ProbeKind::kReturn; },
      [](ProbeRequest& r) { r.contexts.pop_back(); },
      [](ProbeRequest& r) { r.contexts[0].register_name = "rsi"; },
      [](ProbeRequest& r) { r.contexts[1].memory.kind = MemoryContext::Kind::kFloat; },
      [](ProbeRequest& r) { r.contexts[1].memory.size = 8; },
      [](ProbeRequest& r) { r.contexts[1].memory.is_signed = true; },
      [](ProbeRequest& r) { r.contexts[1].memory.name = "y"; },
      [](ProbeRequest& r) { r.contexts[1].memory.address = "2"; },
      [](ProbeRequest& r) { r.data.args = true; },
      [](ProbeRequest& r) { r.data.locals = true; },
      [](ProbeRequest& r) { r.data.captures = {"m"}; },
      [](ProbeRequest& r) { r.data.condition = "n > 2"; },
  };
  ProbeRequest one;
  one.contexts = {{.row = nullptr, .register_name = "rdi"},
                  {.row = nullptr, .memory = {.size = 4, .name = "x", .address = "1"}}};
  one.data = {.captures = {"n"}, .condition = "n > 1"};
  ProbeRequest other = one;
  other.spec.name = "another";
  EXPECT_TRUE(one.wants_the_same(other)) << "wherever both match";
  for (size_t i = 0; i < std::size(changes); ++i) {
    other = one;
    changes[i](other);
    EXPECT_FALSE(one.wants_the_same(other)) << i;
  }
}

}  // namespace
}  // namespace blip::session
