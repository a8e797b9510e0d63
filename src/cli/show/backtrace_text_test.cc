// SPDX-License-Identifier: MIT
#include "cli/show/backtrace_text.h"

#include <gtest/gtest.h>

#include "ctf/schema.h"

namespace blip::cli {
namespace {

using session::NamedFrame;

class BacktraceText : public testing::Test {
 protected:
  // Frame 1 is where a signal came.
  Backtrace backtrace_{.frames = {0x1000, 0x2000, 0x3000},
                       .info = uint64_t{0b011} << ctf::StackInfo::kFirstBit};
  std::vector<std::pair<uint64_t, bool>> asked_;
  std::vector<NamedFrame> answer_;
  session::FrameNamer namer_ = [this](int32_t, uint64_t address,
                                      bool is_return) -> const std::vector<NamedFrame>& {
    asked_.emplace_back(address, is_return);
    answer_ = {{.function = "f\x1b", .offset = 4, .module = "prog", .file = "/src/a.c", .line = 3}};
    if (address == 0x2000)
      answer_.insert(answer_.begin(), {.function = "g", .module = "prog", .is_inlined = true});
    if (address == 0x3000) answer_ = {NamedFrame{}};
    return answer_;
  };
};

TEST_F(BacktraceText, frames_below_each_other) {
  std::string text;
  backtrace_.append_text(text, &namer_);
  EXPECT_EQ(text,
            "      #0 f\\x1b+0x4 (prog) a.c:3\n"
            "      #1 g [inlined] (prog)\n"
            "      #2 f\\x1b+0x4 (prog) a.c:3\n"
            "      #3 0x3000\n");
  EXPECT_EQ(asked_,
            (std::vector<std::pair<uint64_t, bool>>{{0x1000, false}, {0x2000, false}, {0x3000, true}}));
}

TEST_F(BacktraceText, as_json_with_why_it_ends) {
  backtrace_.info = 1;  // abi::UnwindEnd::kDepth
  backtrace_.frames = {0x10};
  std::string text;
  backtrace_.append_json(text, nullptr);
  EXPECT_EQ(text, R"(,"backtrace":[{"ip":16}],"backtrace_cut":"the depth asked for")");
}

}  // namespace
}  // namespace blip::cli
