// SPDX-License-Identifier: MIT
#include "session/drain/region_schema.h"

#include <gtest/gtest.h>

#include "ctf/test_captured.h"

namespace blip::session {
namespace {

ctf::EventClass captured() {
  using namespace ctf::testing;
  const ctf::Field point =
      structure("", {integer("x", ctf::kNoOutput, 2), integer("y", ctf::kNoOutput, 2, true, 2)});
  return captured_class(
      {fixed(8, true), string(40), elements(4, 9)},
      {{"procname", ctf::FieldType::kText16, 0, true},
       labelled(integer("color", 0, 4), {{-1, "A B"}, {INT64_MAX, "%"}}),
       structure("s", {text("path", 1), sequence("pts", 2, 4, point), note("gone", "<optimized out>")}),
       bits(integer("b", 0, 4, false), 3, 5)},
      4, "captured");
}

RegionSchema example() {
  RegionSchema s;
  s.info = {
      .hostname = "here", .procname = "a b%", .command_line = "blip record -o 'x y'\n", .creation_time = ""};
  s.info.realtime_offset = -5;
  s.uuid = {1, 2, 0xff};
  s.dir = "/tmp/\xc3\xa9";
  s.prefix = "pid7-6-";
  s.start = {UINT64_MAX, 17};
  s.monotonic = true;
  s.vpid = 42;
  ctf::EventClass c{.id = 2, .name = "operator new(unsigned long)"};
  c.leads_with_pid = true;
  c.fields = {{"vpid", ctf::FieldType::kInt32, 0, true, true},
              {"rdi", ctf::FieldType::kHex64},
              {.name = "latency_ns", .type = ctf::FieldType::kUint64, .is_duration = true}};
  ctf::lay_out(c);
  s.classes.push_back(c);
  s.classes.push_back({.id = 3, .name = ""});
  ctf::lay_out(s.classes.back());
  s.classes.push_back(captured());
  return s;
}

TEST(RegionSchema, comes_back_as_it_was) {
  const RegionSchema before = example();
  const auto after = parse_region_schema(to_text(before));
  ASSERT_TRUE(after);
  EXPECT_EQ(to_text(*after), to_text(before));
  EXPECT_EQ(after->info.command_line, before.info.command_line);
  EXPECT_EQ(after->dir, before.dir);
  EXPECT_EQ(after->uuid, before.uuid);
  ASSERT_EQ(after->classes.size(), 3u);
  EXPECT_EQ(after->classes[2].fixed_size, before.classes[2].fixed_size);
  EXPECT_EQ(after->classes[2].record_size, before.classes[2].record_size);
  const ctf::Field& structure = after->classes[2].fields[2];
  EXPECT_EQ(structure.members[1].members[0].members[1].begin, 2u);
  EXPECT_EQ(after->classes[2].fields[1].labels, before.classes[2].fields[1].labels);
  EXPECT_EQ(after->classes[0].record_size, before.classes[0].record_size);
  EXPECT_EQ(after->classes[0].fields[1].offset, before.classes[0].fields[1].offset);
  EXPECT_FALSE(after->classes[0].fields[1].is_duration);
  EXPECT_TRUE(after->classes[0].fields[2].is_duration);
}

TEST(RegionSchema, damaged_text_is_refused) {
  for (const char* text : {"x",
                           "class 2 0 0 0 =a b\nfield",
                           "class 3 0 0 0 =a",
                           "class 2 2 0 0 =a",
                           "class 2 1 0 0 =a",
                           "class 2 0 0 0 a",
                           "class 2 0 0 0 =%",
                           "class 2 0 0 0 =%zz",
                           "field 0 0 0 =a",
                           "class 2 0 0 0 =a\nfield 99 0 0 =b",
                           "trace 00 1",
                           "hit",
                           "duration",
                           "class 2 0 0 0 =a\nduration",
                           "class 2 0 0 0 =a\nfield 0 0 0 =b\nduration",
                           "class 2 0 0 0 =a\ntyped 1 8 0 0 0 0 4 0 0 0 0 0 =n =",
                           "class 2 0 0 0 =a\noutput 0 4 0 0 0\ntyped 0 8 0 0 0 0 4 0 0 0 0 0 =n =",
                           "class 2 0 0 0 =a\nhit\ntyped 0 8 0 0 0 0 4 0 0 0 0 0 =n =",
                           "class 2 0 0 0 =a\nhit\nlabel 1 =n",
                           "class 2 0 0 0 =a\nhit\noutput 1 1 9999 0 0",
                           "class 2 0 0 0 =a\nhit\noutput 4 1 1 0 0"})
    EXPECT_FALSE(parse_region_schema(text)) << text;
}

// Whatever byte the target changes, nothing is read that is not there.
TEST(RegionSchema, any_byte_may_be_anything) {
  const std::string good = to_text(example());
  for (size_t i = 0; i < good.size(); ++i) {
    for (const char c : {'\0', '\n', ' ', '%', '=', '9', '\xff'}) {
      std::string bad = good;
      bad[i] = c;
      (void)parse_region_schema(bad);
    }
    (void)parse_region_schema(std::string_view(good).substr(0, i));
  }
}

}  // namespace
}  // namespace blip::session
