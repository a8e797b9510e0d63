// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ctf/test_captured.h"

namespace blip::ctf::testing {
namespace {

using ::testing::HasSubstr;

std::string complaint(const EventClass& c) {
  const Status status = check_outputs(c);
  return status ? "" : status.error().message();
}

TEST(CheckOutputs, what_is_too_large_for_a_record_or_a_packet) {
  EXPECT_EQ(complaint(captured_class({string(3000)}, {text("s", 0)})), "");
  EXPECT_THAT(complaint(captured_class({string(2000), string(2000)}, {text("s", 0), text("t", 1)})),
              HasSubstr("f: an event may take 4024 bytes (in the trace 4018), more than the 3072 (4000) "
                        "there is room for"));
  // 600 bits that become 600 ints.
  std::vector<Field> members;
  for (uint32_t i = 0; i < 600; ++i)
    members.push_back(bits(integer("b", kNoOutput, 8, false, i / 8), uint8_t(i % 8), 1));
  EXPECT_THAT(complaint(captured_class({fixed(75)}, {structure("s", members, 0)})),
              HasSubstr("(in the trace 4800)"));
  EXPECT_THAT(complaint(captured_class({string(UINT32_MAX)}, {text("s", 0)})), HasSubstr("capture less"));
  EXPECT_THAT(complaint(captured_class({elements(UINT32_MAX, UINT32_MAX)}, {})), HasSubstr("capture less"));
  EXPECT_THAT(complaint(captured_class(std::vector(49, fixed(1)), {})), HasSubstr("capture less"));
}

TEST(CheckOutputs, fields_that_do_not_fit_their_outputs) {
  const Field element = integer("", kNoOutput, 4);
  const std::pair<const char*, EventClass> cases[] = {
      {"no such output", captured_class({}, {integer("n", 0, 4)})},
      {"no output", captured_class({fixed(4)}, {integer("n", kNoOutput, 4)})},
      {"behind its end", captured_class({fixed(4)}, {integer("n", 0, 4, true, 1)})},
      {"an odd size", captured_class({fixed(4)}, {integer("n", 0, 3)})},
      {"a number of a string", captured_class({string(9)}, {integer("n", 0, 4)})},
      {"text behind its end", captured_class({fixed(4)}, {fixed_text("n", 0, 2, 3)})},
      {"text of words", captured_class({elements(4, 9)}, {text("n", 0)})},
      {"an array behind its end", captured_class({fixed(15)}, {array("n", 0, 0, 4, 4, element)})},
      {"an array that overflows",
       captured_class({fixed(15)}, {array("n", 0, 0, 0x80000000, 0x80000000, element)})},
      {"an element larger than it is", captured_class({fixed(16)}, {array("n", 0, 0, 2, 8, element)})},
      {"a sequence of another size", captured_class({elements(8, 4)}, {sequence("n", 0, 4, element)})},
      {"a sequence of fixed bytes", captured_class({fixed(8)}, {sequence("n", 0, 4, element)})},
      {"another output in an element",
       captured_class({fixed(16), fixed(4)}, {array("n", 0, 0, 4, 4, integer("", 1, 4))})},
      {"too many bits", captured_class({fixed(4)}, {bits(integer("n", 0, 1), 0, 9)})},
      {"bits behind the end", captured_class({fixed(4)}, {bits(integer("n", 0, 4), 1, 32)})},
      {"a plain field inside", captured_class({fixed(4)}, {structure("n", {{"x", FieldType::kInt32}}, 0)})},
  };
  for (const auto& [what, c] : cases) EXPECT_THAT(complaint(c), HasSubstr("does not fit")) << what;
}

TEST(CheckOutputs, too_deep_and_too_many) {
  Field deep = integer("n", kNoOutput, 1);
  for (int i = 0; i < 30; ++i) deep = structure("s", {deep});
  deep.output = 0;
  EXPECT_THAT(complaint(captured_class({fixed(1)}, {deep})), HasSubstr("capture some of them"));
  const Field many = structure("s", std::vector(5000, note("n", "")));
  EXPECT_THAT(complaint(captured_class({}, {many})), HasSubstr("capture some of them"));
}

TEST(LayOut, tells_faults_and_cuts_where_they_may_be) {
  const auto names = [](const EventClass& c) {
    std::string all;
    for (const Field& f : c.fields) all += f.name + (f.is_implicit ? "? " : " ");
    return all;
  };
  EXPECT_EQ(names(captured_class({fixed(1)}, {integer("n", 0, 1)})), "n ");
  EXPECT_EQ(names(captured_class({fixed(1, true)}, {integer("n", 0, 1)})), "n faults? ");
  EventClass c = captured_class({string(1)}, {text("n", 0)});
  EXPECT_EQ(names(c), "n faults? cut? ");
  lay_out(c);
  EXPECT_EQ(names(c), "n faults? cut? ") << "once";
}

}  // namespace
}  // namespace blip::ctf::testing
