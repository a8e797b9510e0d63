// SPDX-License-Identifier: MIT
#include "session/region_schema.h"

#include <gtest/gtest.h>

namespace blip::session {
namespace {

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
  c.fields = {{"vpid", ctf::FieldType::kInt32, 0, true, true}, {"rdi", ctf::FieldType::kHex64}};
  ctf::lay_out(c);
  s.classes.push_back(c);
  s.classes.push_back({.id = 3, .name = ""});
  ctf::lay_out(s.classes.back());
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
  ASSERT_EQ(after->classes.size(), 2u);
  EXPECT_EQ(after->classes[0].record_size, before.classes[0].record_size);
  EXPECT_EQ(after->classes[0].fields[1].offset, before.classes[0].fields[1].offset);
}

TEST(RegionSchema, damaged_text_is_refused) {
  for (const char* text : {"x", "class 2 0 0 0 =a b\nfield", "class 3 0 0 0 =a", "class 2 2 0 0 =a",
                           "class 2 1 0 0 =a", "class 2 0 0 0 a", "class 2 0 0 0 =%", "class 2 0 0 0 =%zz",
                           "field 0 0 0 =a", "class 2 0 0 0 =a\nfield 99 0 0 =b", "trace 00 1"})
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
