// SPDX-License-Identifier: MIT
// Captured data of every kind, packed, written, and read by the readers from Debian.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "ctf/event_packer.h"
#include "ctf/test_captured.h"
#include "ctf/test_support.h"

namespace blip::ctf::testing {
namespace {

using namespace std::string_literals;

constexpr uint64_t kStart = 5'000'000'000'000;

class CapturedReadback : public ::testing::TestWithParam<std::string> {
 protected:
  // The payload of each record as the reader shows it.
  std::vector<std::string> shown(const EventClass& c, const std::vector<HitRecord>& records) {
    EXPECT_EQ(check_outputs(c) ? "" : check_outputs(c).error().message(), "");
    TestTrace trace(dir_, {c});
    EventPacker packer(trace.classes.front());
    {
      StreamWriter writer = trace.stream("s");
      for (size_t i = 0; i < records.size(); ++i) {
        const auto event = packer.pack(records[i].bytes());
        EXPECT_TRUE(event);
        if (event) writer.append(kStart + i, c.id, event->data(), uint32_t(event->size()));
      }
    }
    const ReaderOutput output = read_trace(GetParam(), dir_);
    EXPECT_EQ(output.exit_code, 0) << output.errors;
    if (complaints_.empty()) {
      EXPECT_EQ(output.errors, "");
    } else if (GetParam() == "babeltrace") {
      EXPECT_THAT(output.errors, ::testing::HasSubstr(complaints_));
    }
    std::vector<std::string> payloads;
    for (size_t i = 0; i < output.lines.size(); ++i) {
      const std::string frame = fmt::format("[{:020}] f: {{ cpu_id = 0, vpid = 42 }}, ", kStart + i);
      EXPECT_EQ(output.lines[i].substr(0, frame.size()), frame);
      payloads.push_back(output.lines[i].substr(std::min(frame.size(), output.lines[i].size())));
    }
    return payloads;
  }
  std::string shown_one(const EventClass& c, const HitRecord& record) {
    const auto all = shown(c, {record});
    return all.size() == 1 ? all[0] : fmt::format("{} events", all.size());
  }

  std::string complaints_;  // of babeltrace 1.5
  ScratchDir scratch_;
  std::string dir_ = scratch_ / "trace";
};
INSTANTIATE_TEST_SUITE_P(Both, CapturedReadback, ::testing::ValuesIn(kReaders),
                         [](const auto& reader) { return reader.param; });

TEST_P(CapturedReadback, integers_of_all_sizes_in_both_bases) {
  std::vector<Field> fields;
  std::vector<RecordOutput> outputs;
  for (const uint32_t size : {1u, 2u, 4u, 8u}) {
    const auto output = uint32_t(outputs.size());
    outputs.push_back(fixed(size));
    fields.push_back(integer(fmt::format("i{}", size), output, size, true));
    fields.push_back(integer(fmt::format("u{}", size), output, size, false));
    fields.push_back(integer(fmt::format("x{}", size), output, size, false));
    fields.back().is_hex = true;
  }
  const EventClass c = captured_class(outputs, fields);
  HitRecord r(c);
  r.value(0, int8_t{-2}).value(1, int16_t{-2}).value(2, int32_t{-2}).value(3, int64_t{-2});
  EXPECT_EQ(shown_one(c, r),
            "{ i1 = -2, u1 = 254, x1 = 0xFE, i2 = -2, u2 = 65534, x2 = 0xFFFE, i4 = -2, u4 = 4294967294, "
            "x4 = 0xFFFFFFFE, i8 = -2, u8 = 18446744073709551614, x8 = 0xFFFFFFFFFFFFFFFE }");
}

TEST_P(CapturedReadback, characters_and_truth) {
  const EventClass c =
      captured_class({fixed(1), fixed(1), fixed(4)},
                     {number("c", FieldType::kChar, 0, 1, true), number("u", FieldType::kChar, 0, 1),
                      number("b", FieldType::kBool, 1, 1), number("w", FieldType::kBool, 2, 4)});
  const auto line = [&](char ch, bool b) {
    return HitRecord(c).value(0, ch).value(1, b).value(2, uint32_t{b});
  };
  const auto lines = shown(c, {line('a', true), line('\n', false), line('\xe9', true)});
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0],
            "{ c = ( \"a\" : container = 97 ), u = ( \"a\" : container = 97 ), b = ( \"true\" : container = "
            "1 ), w = ( \"true\" : container = 1 ) }");
  EXPECT_THAT(lines[1], ::testing::HasSubstr("b = ( \"false\" : container = 0 )"));
  EXPECT_THAT(lines[2],
              ::testing::StartsWith(
                  GetParam() == "babeltrace"
                      ? "{ c = ( \"\\xe9\" : container = -23 ), u = ( \"\\xe9\" : container = 233 )"
                      : "{ c = ( \"\\\\xe9\" : container = -23 ), u = ( \"\\\\xe9\" : container = 233 )"));
}

TEST_P(CapturedReadback, floats) {
  const EventClass c =
      captured_class({fixed(4), fixed(8), fixed(16)},
                     {number("f", FieldType::kFloat, 0, 4), number("d", FieldType::kFloat, 1, 8),
                      number("l", FieldType::kFloat, 2, 16)});
  EXPECT_EQ(shown_one(c, HitRecord(c).value(0, 0.5f).value(1, -2.25).value(2, 1024.0L)),
            "{ f = 0.5, d = -2.25, l = { double = 1024, long_double = \"1024\" } }");
}

TEST_P(CapturedReadback, enumerations) {
  const auto red = [](uint32_t output, uint32_t size, bool is_signed) {
    return labelled(
        integer("e", output, size, is_signed),
        {{1, "RED"}, {-1, "NEG"}, {1, "SAME_AS_RED"}, {2, "RED"}, {3, "a \"b\" \\ \x1b[1m */ }"}, {4, ""}});
  };
  const EventClass c =
      captured_class({fixed(4), fixed(8), fixed(1)}, {red(0, 4, true), red(1, 8, false), red(2, 1, true)});
  std::vector<HitRecord> records;
  for (const int64_t n : {1, -1, 2, 77, 4})
    records.push_back(HitRecord(c).value(0, int32_t(n)).value(1, n).value(2, int8_t(n)));
  complaints_ = "Unknown value 77 in enum";
  const auto lines = shown(c, records);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0],
            "{ e = ( \"RED\" : container = 1 ), e_2 = ( \"RED\" : container = 1 ), e_3 = ( \"RED\" : "
            "container = 1 ) }");
  EXPECT_EQ(lines[1],
            "{ e = ( \"NEG\" : container = -1 ), e_2 = ( \"NEG\" : container = 18446744073709551615 ), e_3 = "
            "( \"NEG\" : container = -1 ) }");
  EXPECT_THAT(lines[2], ::testing::StartsWith("{ e = ( \"RED_2\" : container = 2 )"));
  EXPECT_THAT(lines[3], ::testing::StartsWith("{ e = ( <unknown> : container = 77 )"));
  EXPECT_THAT(lines[4], ::testing::StartsWith("{ e = ( \"(unnamed)\" : container = 4 )"));
}

TEST_P(CapturedReadback, hostile_labels_show_as_they_are_escaped) {
  const EventClass c =
      captured_class({fixed(4)}, {labelled(integer("e", 0, 4), {{1, "\x1b[1m \xff */ };"}})});
  EXPECT_THAT(shown_one(c, HitRecord(c).value(0, int32_t{1})),
              ::testing::AnyOf("{ e = ( \"\\x1b[1m \\xff */ };\" : container = 1 )  }"s,
                               "{ e = ( \"\\x1b[1m \\xff */ };\" : container = 1 ) }"s,
                               "{ e = ( \"\\\\x1b[1m \\\\xff */ };\" : container = 1 ) }"s));
}

TEST_P(CapturedReadback, text_and_sequences_also_empty_ones) {
  const EventClass c = captured_class(
      {string(20), elements(4, 3), elements(1, 20), fixed(8)},
      {text("s", 0), sequence("v", 1, 4, integer("", kNoOutput, 4)), text("t", 2), fixed_text("a", 3, 0, 8)});
  const auto lines = shown(
      c, {HitRecord(c)
              .dynamic(0, "gr\xc3\xb6\xc3\x9f")
              .dynamic(1, raw(int32_t{1}) + raw(int32_t{-2}))
              .dynamic(2, "x", true)
              .value(3, uint64_t{0x4241}),
          HitRecord(c).dynamic(0, "").dynamic(1, "").dynamic(2, ""), HitRecord(c).fault(0).dynamic(2, "y")});
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0],
            "{ s = \"gr\xc3\xb6\xc3\x9f\", _v_length = 2, v = [ [0] = 1, [1] = -2 ], t = \"x\", a = \"AB\", "
            "faults = ( \"(none)\" : container = 0x0 ), cut = ( \"t\" : container = 0x4 ) }");
  EXPECT_EQ(lines[1],
            "{ s = \"\", _v_length = 0, v = [ ], t = \"\", a = \"\", faults = ( \"(none)\" : container = 0x0 "
            "), cut = ( \"(none)\" : container = 0x0 ) }");
  EXPECT_EQ(lines[2],
            "{ s = \"\", _v_length = 0, v = [ ], t = \"y\", a = \"\", faults = ( \"s\" : container = 0x1 ), "
            "cut = ( \"(none)\" : container = 0x0 ) }");
}

TEST_P(CapturedReadback, structures_arrays_and_what_is_in_them) {
  const Field point = structure("", {integer("x", kNoOutput, 2), integer("y", kNoOutput, 2, true, 2)});
  const Field inner = structure("in", {text("path", 1), sequence("pts", 2, 4, point),
                                       note("gone", "<optimized out>"), structure("empty", {})});
  const EventClass c = captured_class(
      {fixed(8), string(9), elements(4, 3)},
      {array("p", 0, 0, 4, 2, point),
       array("m", 0, 0, 4, 2, array("", kNoOutput, 0, 2, 2, integer("", kNoOutput, 2))),
       array("n", 0, 0, 4, 2, fixed_text("", kNoOutput, 0, 4)), array("none", 0, 0, 4, 0, point), inner});
  EXPECT_EQ(
      shown_one(
          c, HitRecord(c).value(0, uint64_t{0x0044'0043'0042'0041}).dynamic(1, "/").dynamic(2, "\5\0\6\0"s)),
      "{ p = [ [0] = { x = 65, y = 66 }, [1] = { x = 67, y = 68 } ], m = [ [0] = [ [0] = 65, [1] = 66 ], [1] "
      "= "
      "[ [0] = 67, [1] = 68 ] ], n = [ [0] = \"A\", [1] = \"C\" ], none = [ ], in = { path = \"/\", "
      "_pts_length = 1, pts = [ [0] = { x = 5, y = 6 } ], gone = \"<optimized out>\", empty = { } }, faults "
      "= ( \"(none)\" : container = 0x0 ), cut = ( \"(none)\" : container = 0x0 ) }");
}

TEST_P(CapturedReadback, long_doubles) {
  const Field number = testing::number("", FieldType::kFloat, 0, 16);
  Field alone = number, two = array("v", 1, 0, 16, 2, testing::number("", FieldType::kFloat, kNoOutput, 16));
  alone.name = "x";
  const EventClass c = captured_class({fixed(16), fixed(32)}, {alone, two});
  EXPECT_TRUE(shown_one(c, HitRecord(c).value(0, 1 + 1e-19L).value(1, -2.5L).value(1, 1e300L, 16))
                  .starts_with("{ x = { double = 1, long_double = \"1.0000000000000000001\" }, v = [ [0] = { "
                               "double = -2.5, long_double = \"-2.5\" }, [1] = { double = 1e+300, "
                               "long_double = \"1e+300\" } ]"));
}

TEST_P(CapturedReadback, any_name_of_a_member) {
  const std::string names[] = {"Bool", "Complex",  "Imaginary", "struct",    "",
                               "",     "a b",      "a-b",       "this->x",   "\xc3\xa4",
                               "9",    "v_length", "faults",    "_v_length", "Base<int, char>"};
  std::vector<Field> fields = {sequence("v", 0, 1, integer("", kNoOutput, 1))};
  for (const std::string& name : names) fields.push_back(integer(name, 1, 1));
  fields.push_back(sequence("v", 0, 1, integer("", kNoOutput, 1)));
  const EventClass c = captured_class({elements(1, 3), fixed(1)}, fields);
  EXPECT_EQ(shown_one(c, HitRecord(c).dynamic(0, "").value(1, int8_t{7})),
            "{ _v_length = 0, v = [ ], Bool_ = 7, Complex_ = 7, Imaginary_ = 7, struct = 7, unnamed = 7, "
            "unnamed_2 = 7, a_b = 7, a_b_2 = 7, this__x = 7, __ = 7, 9 = 7, v_length_2 = 7, faults = 7, "
            "_v_length_3 = 7, Base_int__char_ = 7, _v_2_length = 0, v_2 = [ ], faults_2 = ( \"(none)\" : "
            "container = 0x0 ), cut = ( \"(none)\" : container = 0x0 ) }");
}

TEST_P(CapturedReadback, the_largest_event) {
  const EventClass c = captured_class({string(3000)}, {text("s", 0)});
  const auto lines = shown(
      c, {HitRecord(c).dynamic(0, std::string(3000, 'x')), HitRecord(c).dynamic(0, std::string(3000, 'y'))});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[1], ::testing::HasSubstr(std::string(3000, 'y') + '"'));
}

}  // namespace
}  // namespace blip::ctf::testing
