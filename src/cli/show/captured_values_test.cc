// SPDX-License-Identifier: MIT
#include "cli/show/captured_values.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ctf/event_packer.h"
#include "ctf/test_captured.h"

namespace blip::cli {
namespace {

using namespace ctf::testing;
using namespace std::string_literals;
using ctf::FieldType;

std::string shown(const ctf::EventClass& c, const HitRecord& record, bool json = false) {
  ctf::EventPacker packer(c);
  const auto event = packer.pack(record.bytes());
  if (!event || !ctf::check_outputs(c)) return "malformed";
  CapturedValues values(c, json);
  static const CapturedValues::HitPlace place{"f+0x1", {}};
  if (!values.render(*event, [](uint64_t) -> const CapturedValues::HitPlace& { return place; })) return "bad";
  if (json) {
    std::string line;
    values.append_json(line, 7, nullptr);
    return line;
  }
  return (values.tid().empty() ? "" : values.tid() + " | ") + values.text();
}

// The line of an event that has fields of the group "fields" alone.
std::string of_fields(const std::string& fields, const std::string& marks = "") {
  return "{\"v\":1,\"kind\":\"event\",\"time\":7,\"name\":\"f\",\"fields\":{" + fields + "}" + marks + "}\n";
}

ctf::EventClass all_kinds() {
  const ctf::Field point =
      structure("pt", {integer("x", ctf::kNoOutput, 2), integer("y", ctf::kNoOutput, 2, true, 2)}, 2);
  ctf::Field pointer = integer("p", 4, 8, false);
  pointer.is_hex = true;
  return captured_class(
      {fixed(4), string(9), fixed(4, true), elements(2, 9), fixed(8, true)},
      {integer("n", 0, 4), text("path", 1), point,
       labelled(integer("color", 0, 4), {{5, "RED"}, {-1, "NEG"}}),
       sequence("v", 3, 2, integer("", ctf::kNoOutput, 2)), pointer, note("gone", "<optimized out>"),
       array("a", 4, 0, 1, 2, number("", FieldType::kChar, ctf::kNoOutput, 1))});
}

TEST(CapturedValues, text_and_json_of_what_is_captured) {
  const ctf::EventClass c = all_kinds();
  HitRecord r(c);
  r.value(0, int32_t{5})
      .value(2, int16_t{1})
      .value(2, int16_t{-2}, 2)
      .value(4, uint64_t{0x7f0a61})
      .dynamic(1, "/admin")
      .dynamic(3, "\1\0\2\0"s);
  EXPECT_EQ(shown(c, r),
            "n = 5, path = \"/admin\", pt = { x = 1, y = -2 }, color = RED (5), v = [ 1, 2 ], p = 0x7f0a61, "
            "gone = <optimized out>, a = [ 'a' (97), '\\n' (10) ]");
  EXPECT_EQ(shown(c, r, true),
            of_fields("\"n\":5,\"path\":\"/admin\",\"pt\":{\"x\":1,\"y\":-2},\"color\":"
                      "\"RED\",\"v\":[1,2],\"p\":8325729,\"gone\":null,\"a\":[\"a\",\"\\n\"]",
                      ",\"missing\":{\"/fields/gone\":\"optimized out\"}"));
}

TEST(CapturedValues, what_could_not_be_read_and_what_was_cut) {
  const ctf::EventClass c = all_kinds();
  const HitRecord r =
      HitRecord(c).value(0, int32_t{-1}).fault(1).fault(2).fault(4).dynamic(1, "").dynamic(3, "\1\0"s, true);
  EXPECT_EQ(
      shown(c, r),
      "n = -1, path = <bad address>, pt = <bad address>, color = NEG (-1), v = [ 1 ]..., p = <bad address>, "
      "gone = <optimized out>, a = <bad address>");
  EXPECT_EQ(
      shown(c, r, true),
      of_fields("\"n\":-1,\"path\":null,\"pt\":null,\"color\":\"NEG\",\"v\":[1],\"p\":null,\"gone\":null,"
                "\"a\":null",
                ",\"cut\":[\"/fields/v\"],\"missing\":{\"/fields/path\":\"bad address\",\"/fields/pt\":"
                "\"bad address\",\"/fields/p\":\"bad address\",\"/fields/gone\":\"optimized out\","
                "\"/fields/a\":\"bad address\"}"));
  const HitRecord cut = HitRecord(c).value(0, int32_t{3}).dynamic(1, "ab", true).dynamic(3, "");
  EXPECT_EQ(shown(c, cut).substr(0, 73),
            "n = 3, path = \"ab\"..., pt = { x = 0, y = 0 }, color = 3, v = [ ], p = 0x0");
}

TEST(CapturedValues, null_is_another_fault) {
  const ctf::EventClass c = captured_class({string(9), string(9)}, {text("null", 0), text("bad", 1)});
  const HitRecord r = HitRecord(c).fault(0).fault(1).dynamic(0, "", true).dynamic(1, "");
  EXPECT_EQ(shown(c, r), "null = NULL, bad = <bad address>");
  EXPECT_EQ(shown(c, r, true),
            of_fields("\"null\":null,\"bad\":null", ",\"missing\":{\"/fields/bad\":\"bad address\"}"));
}

TEST(CapturedValues, floats_and_truth) {
  const ctf::EventClass c =
      captured_class({fixed(4), fixed(8), fixed(16), fixed(1)},
                     {number("f", FieldType::kFloat, 0, 4), number("d", FieldType::kFloat, 1, 8),
                      number("l", FieldType::kFloat, 2, 16), number("b", FieldType::kBool, 3, 1)});
  EXPECT_EQ(shown(c, HitRecord(c).value(0, 0.1f).value(1, 0.1).value(2, 1e300L).value(3, true)),
            "f = 0.1, d = 0.1, l = 1e+300, b = true");
  const HitRecord odd = HitRecord(c)
                            .value(0, std::nanf(""))
                            .value(1, -INFINITY)
                            .value(1, -HUGE_VAL)
                            .value(2, 0.0L)
                            .value(3, uint8_t{7});
  EXPECT_EQ(shown(c, odd), "f = nan, d = -inf, l = 0, b = 7");
  EXPECT_EQ(shown(c, odd, true), of_fields("\"f\":\"nan\",\"d\":\"-inf\",\"l\":0,\"b\":7"));
}

TEST(CapturedValues, characters_in_json_are_one_character) {
  const ctf::EventClass c = captured_class({fixed(1)}, {number("c", FieldType::kChar, 0, 1, true)});
  EXPECT_EQ(shown(c, HitRecord(c).value(0, '\xe9')), "c = '\\xe9' (-23)");
  EXPECT_EQ(shown(c, HitRecord(c).value(0, '\xe9'), true), of_fields("\"c\":\"\xc3\xa9\""));
  EXPECT_EQ(shown(c, HitRecord(c).value(0, '\0'), true), of_fields("\"c\":\"\\u0000\""));
}

TEST(CapturedValues, nothing_of_the_target_steers_the_terminal) {
  const ctf::EventClass c = captured_class(
      {string(20), fixed(4)}, {text("s\x1b", 0), labelled(integer("e", 1, 4), {{0, "\x1b[1m"}})});
  EXPECT_EQ(shown(c, HitRecord(c).dynamic(0, "\x1b[31m\"\x9b")),
            "s\\x1b = \"\\x1b[31m\\\"\\x9b\", e = \\x1b[1m (0)");
}

TEST(CapturedValues, the_thread_stands_apart_and_implicit_fields_are_for_programs) {
  ctf::EventClass c = captured_class({fixed(4)}, {{"vtid", FieldType::kInt32, 0, true},
                                                  {"cpu", FieldType::kUint32, 0, true, true},
                                                  {"ip", FieldType::kHex64},
                                                  integer("n", 0, 4)});
  c.many_places = true;
  const HitRecord r = HitRecord(c).plain(0, 4711).plain(1, 3).plain(2, 16).value(0, int32_t{1});
  EXPECT_EQ(shown(c, r), "4711 | ip = 0x10 <f+0x1>, n = 1");
  EXPECT_EQ(shown(c, r, true),
            "{\"v\":1,\"kind\":\"event\",\"time\":7,\"name\":\"f\",\"place\":\"f+0x1\",\"tid\":4711,"
            "\"context\":{\"cpu\":3},\"fields\":{\"ip\":16,\"n\":1}}\n");
}

ctf::Field of(ctf::FieldGroup group, ctf::Field field) {
  field.group = group;
  return field;
}

// The issue's: an argument called name. No name of the program or the user meets a key of the event, nor
// another one of its own group.
TEST(CapturedValues, no_key_comes_twice) {
  using enum ctf::FieldGroup;
  const ctf::EventClass c = captured_class(
      {fixed(4), string(9)},
      {of(kOwn, {"depth", FieldType::kUint32}), of(kArgument, integer("name", 0, 4)),
       of(kArgument, integer("time", 0, 4)), of(kLocal, integer("name", 0, 4)),
       of(kCapture, integer("depth", 0, 4)), of(kCapture, integer("depth", 0, 4)),
       of(kCapture, integer("depth_2", 0, 4)), of(kCapture, integer("x\xff", 0, 4)),
       of(kCapture, integer("x\xfe", 0, 4)), of(kContext, text("cut", 1)), of(kOwn, integer("missing", 0, 4)),
       of(kCapture, structure("s/~", {integer("a", 0, 4), integer("a", 0, 4), text("a", 1)}))});
  EXPECT_EQ(shown(c, HitRecord(c).plain(0, 3).value(0, int32_t{5}).dynamic(1, "t", true), true),
            "{\"v\":1,\"kind\":\"event\",\"time\":7,\"name\":\"f\",\"depth\":3,\"missing_2\":5,"
            "\"context\":{\"cut\":\"t\"},\"args\":{\"name\":5,\"time\":5},\"locals\":{\"name\":5},"
            "\"captures\":{\"depth\":5,\"depth_2\":5,\"depth_2_2\":5,\"x\\ufffd\":5,\"x\\ufffd_2\":5,"
            "\"s/~\":{\"a\":5,\"a_2\":5,\"a_3\":\"t\"}},"
            "\"cut\":[\"/context/cut\",\"/captures/s~1~0/a_3\"]}\n");
}

TEST(CapturedValues, an_event_that_ends_too_soon_is_none) {
  const ctf::EventClass c = all_kinds();
  ctf::EventPacker packer(c);
  const auto event = packer.pack(HitRecord(c).dynamic(1, "abc").bytes());
  ASSERT_TRUE(event);
  CapturedValues values(c, false);
  for (size_t size = 0; size < event->size(); ++size)
    EXPECT_FALSE(values.render(event->first(size), {})) << size;
  EXPECT_TRUE(values.render(*event, {}));
}

}  // namespace
}  // namespace blip::cli
