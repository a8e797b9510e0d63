// SPDX-License-Identifier: MIT
#include "cli/output/terminal.h"

#include <gtest/gtest.h>

#include "cli/output/text_table.h"

namespace blip::cli {
namespace {

TEST(Terminal, both_ends_of_what_is_too_wide_stay) {
  EXPECT_EQ(cut_in_the_middle("shop::Service::handle(int)", 26), "shop::Service::handle(int)");
  EXPECT_EQ(cut_in_the_middle("shop::Service::handle(int)", 16), "shop::S...e(int)");
  EXPECT_EQ(cut_in_the_middle("abcdefgh", 7), "ab...gh");
  EXPECT_EQ(cut_in_the_middle("abcdefgh", 3), "...");
  EXPECT_EQ(cut_in_the_middle("abcdefgh", 0), "...");
}

TEST(Terminal, no_character_is_cut) {
  EXPECT_EQ(text_width("gr\u00fc\u00dfe"), 5u);
  EXPECT_EQ(cut_in_the_middle("\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc", 7),
            "\u00fc\u00fc...\u00fc\u00fc");
  EXPECT_EQ(cut_in_the_middle("gr\u00fc\u00dfe", 5), "gr\u00fc\u00dfe");
}

TEST(TextTable, the_first_column_gives_way) {
  using enum TextTable::Align;
  TextTable table({kLeft, kRight});
  table.add({"NAME", "HITS"});
  table.add({"a_function_of_a_long_name", "7"});
  table.add({"f", "12345"});
  EXPECT_EQ(table.text(false, 0),
            "NAME                        HITS\na_function_of_a_long_name      7\nf                          "
            "12345\n");
  EXPECT_EQ(table.text(false, 25),
            "NAME                 HITS\na_functi...ng_name      7\nf                   12345\n");
  const std::string least = "NAME               HITS\na_funct...g_name      7\nf                 12345\n";
  EXPECT_EQ(table.text(false, 5), least) << "a little of the name stays, however narrow it is";
}

TEST(TextTable, a_very_long_name_does_not_widen_the_lines_of_the_others) {
  using enum TextTable::Align;
  TextTable table({kLeft, kRight});
  table.add({std::string(5000, 'n'), "7"});
  table.add({"f", "12345"});
  EXPECT_EQ(table.text(false, 0), std::string(5000, 'n') + "      7\nf" + std::string(99, ' ') + "  12345\n");
}

}  // namespace
}  // namespace blip::cli
