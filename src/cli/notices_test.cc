// SPDX-License-Identifier: MIT
// Scripts parse these lines: a change here breaks them.
#include "cli/notices.h"

#include <gtest/gtest.h>

#include "cli/show/count_table.h"

namespace blip::cli {
namespace {

TEST(CountTable, every_instruction_stays_in_sequence) {
  const std::string table =
      count_table({{"f+0x0", "m", 1, true}, {"f+0x1", "m", 9, true}, {"g", "m", 2}, {"h", "m", 5}});
  EXPECT_LT(table.find("h "), table.find("g "));
  EXPECT_LT(table.find("g "), table.find("f+0x0"));
  EXPECT_LT(table.find("f+0x0"), table.find("f+0x1"));
}

TEST(Notices, armed) {
  session::Armed armed;
  armed.probes = 1;
  armed.total_ms = 12.34;
  armed.paused_ms = 0.567;
  EXPECT_EQ(armed_line(armed), "armed 1 probes in 12.3 ms (target paused 0.57 ms)");
  armed.refused = {{"libz.so.1:inflate", "too short"}, {"g", "x"}};
  EXPECT_EQ(armed_line(armed),
            "armed 1 probes in 12.3 ms (target paused 0.57 ms), 2 refused (-v lists them)");
  armed.traps = 1;
  EXPECT_EQ(
      armed_line(armed),
      "armed 1 probes in 12.3 ms (target paused 0.57 ms), 2 refused (-v lists them), 1 by traps (slow)");
  EXPECT_EQ(refusal_line(armed.refused[0]), "refused libz.so.1:inflate: too short");
}

TEST(Notices, summary) {
  session::Summary summary;
  summary.events = 1000;
  summary.discarded = 2;
  summary.skipped = 3;
  EXPECT_EQ(summary_line(summary), "1000 events, 2 discarded, 3 skipped");
  summary.output_dir = "./blip-server-4711-20260101-120000";
  EXPECT_EQ(summary_line(summary),
            "1000 events, 2 discarded, 3 skipped; trace in ./blip-server-4711-20260101-120000");
}

TEST(Notices, what_is_said_is_one_escaped_line) {
  testing::internal::CaptureStderr();
  say("no symbol matches '\x1b[2J\n'");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "blip: no symbol matches '\\x1b[2J\\n'\n");
}

TEST(Notices, only_errors_have_colour_and_only_in_the_prefix) {
  use_error_color(true);
  testing::internal::CaptureStderr();
  say("armed");
  say_error("bad\x1b");
  use_error_color(false);
  say_error("bad");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "blip: armed\n\x1b[1;31mblip:\x1b[0m bad\\x1b\nblip: bad\n");
}

TEST(CountTable, colours_change_nothing_but_the_colour) {
  std::string colored = count_table({{"work", "server", 1000}, {"idle", "server", 0}}, true);
  EXPECT_NE(colored.find("\x1b["), std::string::npos);
  for (size_t at; (at = colored.find('\x1b')) != std::string::npos;)
    colored.erase(at, colored.find('m', at) - at + 1);
  EXPECT_EQ(colored, count_table({{"work", "server", 1000}, {"idle", "server", 0}}));
}

TEST(CountTable, most_hits_first_equals_as_asked) {
  EXPECT_EQ(count_table({{"parse", "server", 5},
                         {"zero_b", "server", 0},
                         {"zero_a", "server", 0},
                         {"work", "server", 1000}}),
            "NAME    HITS\n"
            "work    1000\n"
            "parse      5\n"
            "zero_b     0\n"
            "zero_a     0\n");
}

TEST(CountTable, module_when_a_name_is_in_two) {
  EXPECT_EQ(count_table({{"init", "server", 1}, {"init", "libz.so.1", 20}}),
            "NAME  MODULE     HITS\n"
            "init  libz.so.1    20\n"
            "init  server        1\n");
}

TEST(CountTable, json_always_names_the_module) {
  EXPECT_EQ(
      count_json({{"work", "server", 18446744073709551615U}, {"e\x1b", "lib\"", 0}}),
      "{\"v\":1,\"kind\":\"count\",\"name\":\"work\",\"module\":\"server\",\"hits\":18446744073709551615}\n"
      "{\"v\":1,\"kind\":\"count\",\"name\":\"e\\u001b\",\"module\":\"lib\\\"\",\"hits\":0}\n");
}

}  // namespace
}  // namespace blip::cli
