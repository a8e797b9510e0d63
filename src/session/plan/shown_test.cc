// SPDX-License-Identifier: MIT
#include "session/plan/shown.h"

#include <gtest/gtest.h>

#include "session/plan/contexts.h"

namespace blip::session {
namespace {

using x86::Shown;

constexpr uint16_t kArguments = 1 << 1 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 9;

ProbeRequest with_context(const ContextRow& row, const std::string& name = "") {
  ProbeRequest request;
  request.contexts.push_back({.row = &row, .register_name = name});
  return request;
}

ProbeRequest with_data(DataRequest data, ProbeKind kind = ProbeKind::kFunction) {
  ProbeRequest request;
  request.kind = kind;
  request.data = std::move(data);
  return request;
}

TEST(ShownAtEntry, what_each_request_looks_at) {
  const Shown all = {Shown::kAllRegisters, false, false}, arguments = {kArguments, false, false};
  const Shown variables = {kArguments, true, true}, by_name = {Shown::kAllRegisters, true, true};
  const struct {
    const char* what;
    ProbeRequest request;
    Shown expected;
  } cases[] = {
      {"a bare probe", {}, Shown::nothing()},
      {"a backtrace", with_context(contexts::kBacktrace), Shown::nothing()},
      {"regs", with_context(contexts::kAllRegisters), all},
      {"reg:rsi", with_context(contexts::kRegister, "rsi"), arguments},
      {"reg:rax", with_context(contexts::kRegister, "rax"), all},
      {"reg:rflags", with_context(contexts::kRegister, "rflags"), all},
      {"memory", with_context(contexts::kMemory), {kArguments, true, true}},
      {"--args", with_data({.args = true}), variables},
      {"--filter", with_data({.condition = "n > 1"}), variables},
      {"a register by name", with_data({.captures = {"n, $r10"}}), by_name},
      {"a return", with_data({}, ProbeKind::kReturn), Shown::nothing()},
      {"of a return", with_data({.captures = {"$return"}}, ProbeKind::kReturn), Shown::nothing()},
      {"of its entry", with_data({.captures = {"entry(n)"}}, ProbeKind::kReturn), variables},
  };
  for (const auto& c : cases) EXPECT_EQ(shown_at_entry(c.request), c.expected) << c.what;
}

}  // namespace
}  // namespace blip::session
