// SPDX-License-Identifier: MIT
#include "cli/show/list_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace blip::cli {
namespace {

using session::ListedFunction;
using session::Listing;
using session::PatchStep;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

// This program's module, and functions of our own making.
Listing listing_of(std::vector<ListedFunction> functions) {
  auto listing = session::list_functions({.file = "/proc/self/exe", .spec = *elf::parse_spec("main")});
  if (!listing) return {};
  listing->functions = std::move(functions);
  return *std::move(listing);
}

const ListedFunction kParse{.name = "ns::parse",
                            .mangled = "_ZN2ns5parseEv",
                            .address = 0x1b0,
                            .size = 132,
                            .step = PatchStep::kWindow};
const ListedFunction kTiny{.name = "is_ready", .address = 0x55d0c1a2b240, .size = 3, .refusal = "too short"};

TEST(ListTable, columns_are_aligned_and_a_refusal_says_why) {
  EXPECT_EQ(list_table(listing_of({kParse, kTiny}), {}),
            "0x0000000001b0   132  window   exe     ns::parse\n"
            "0x55d0c1a2b240     3  refused  exe     is_ready  # too short\n");
}

TEST(ListTable, the_header_stands_over_the_columns) {
  EXPECT_THAT(list_table(listing_of({kParse}), {.header = true}),
              StartsWith("ADDRESS         SIZE  PATCH    MODULE  NAME\n"
                         "0x0000000001b0   132  window   exe     ns::parse\n"));
}

TEST(ListTable, details_follow_the_name) {
  ListedFunction f = kTiny;
  f.mangled = "_Z8is_readyv";
  f.aliases = {"ready", "ready2"};
  f.source_file = "/src/a.c";
  f.source_line = 7;
  const std::string text = list_table(listing_of({f}), {.details = true});
  EXPECT_THAT(text, StartsWith("# exe: /proc/self/exe, "));
  EXPECT_THAT(text,
              HasSubstr("  is_ready  at /src/a.c:7  mangled _Z8is_readyv  also ready,ready2  # too short\n"));
}

TEST(ListTable, names_from_a_file_cannot_write_to_the_terminal) {
  ListedFunction f = kParse;
  f.name = "a\x1b[2J\nb";
  EXPECT_THAT(list_table(listing_of({f}), {}), HasSubstr("a\\x1b[2J\\nb\n"));
  EXPECT_THAT(list_json(listing_of({f}), false), Not(HasSubstr("\x1b")));
}

TEST(ListTable, colour_only_when_asked_for) {
  EXPECT_THAT(list_table(listing_of({kParse, kTiny}), {.color = true}), HasSubstr("\x1b["));
  EXPECT_THAT(list_table(listing_of({kParse, kTiny}), {.header = true, .details = true}),
              Not(HasSubstr("\x1b")));
}

TEST(ListJson, one_object_per_line) {
  EXPECT_EQ(list_json(listing_of({kParse, kTiny}), false),
            "{\"v\":1,\"kind\":\"function\",\"name\":\"ns::parse\",\"mangled\":\"_ZN2ns5parseEv\","
            "\"address\":432,\"size\":132,\"module\":"
            "\"exe\","
            "\"patch\":\"jump\",\"step\":\"window\"}\n"
            "{\"v\":1,\"kind\":\"function\",\"name\":\"is_ready\",\"address\":94355090223680,\"size\":3,"
            "\"module\":\"exe\",\"patch\":\"none\","
            "\"refused\":\"too short\"}\n");
}

TEST(ListSummary, counts) {
  EXPECT_EQ(list_summary(listing_of({kParse, kTiny, kParse})), "3 functions, 2 can be probed, 1 refused");
}

TEST(ListSummary, does_not_count_inlined_copies_as_functions) {
  ListedFunction copy = kParse, refused_copy = kTiny;
  copy.inlined_in = refused_copy.inlined_in = "main";
  EXPECT_EQ(list_summary(listing_of({kParse, copy, refused_copy})),
            "1 functions and 2 inlined copies, 2 can be probed, 1 refused");
}

TEST(ListSteps, have_names) {
  EXPECT_EQ(step_name(PatchStep::kNop5), "nop5");
  EXPECT_EQ(step_name(PatchStep::kInstruction), "insn");
}

}  // namespace
}  // namespace blip::cli
