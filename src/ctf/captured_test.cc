// SPDX-License-Identifier: MIT
#include "ctf/captured.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ctf/test_captured.h"

namespace blip::ctf {
namespace {

using namespace ctf::testing;
using ::testing::ElementsAre;

Field cut(Field field) {
  field.note = "3 more";
  return field;
}
Field two(const char* name, Field element = integer("", kNoOutput, 4)) {
  return array(name, 0, 0, 4, 2, std::move(element));
}

std::vector<std::string> names(const std::vector<Field>& fields) {
  std::vector<std::string> all;
  for (const Field& f : fields) all.push_back(f.name);
  return all;
}

TEST(PlaceNotes, the_note_of_an_array_comes_behind_it) {
  Field argument = cut(two("a"));
  argument.group = FieldGroup::kArgument;
  std::vector<Field> fields = {argument, two("whole"), cut(two("b")), note("gone", "<optimized out>")};
  place_notes(fields);
  EXPECT_THAT(names(fields), ElementsAre("a", "a_more", "whole", "b", "b_more", "gone"));
  EXPECT_EQ(fields[0].note, "");
  EXPECT_EQ(fields[1].type, FieldType::kNote);
  EXPECT_EQ(fields[1].note, "3 more");
  EXPECT_EQ(fields[1].group, FieldGroup::kArgument);
  EXPECT_EQ(fields[5].note, "<optimized out>");
}

TEST(PlaceNotes, so_do_those_of_members_at_any_depth) {
  std::vector<Field> fields = {structure("s", {cut(two("a")), structure("t", {cut(two("b"))})})};
  place_notes(fields);
  EXPECT_THAT(names(fields), ElementsAre("s"));
  EXPECT_THAT(names(fields[0].members), ElementsAre("a", "a_more", "t"));
  EXPECT_THAT(names(fields[0].members[2].members), ElementsAre("b", "b_more"));
}

TEST(PlaceNotes, elements_have_no_place_for_theirs_but_their_members_have) {
  std::vector<Field> fields = {two("a", cut(two(""))), sequence("s", 1, 8, structure("", {cut(two("b"))}))};
  place_notes(fields);
  EXPECT_THAT(names(fields), ElementsAre("a", "s"));
  EXPECT_THAT(names(fields[0].members), ElementsAre(""));
  EXPECT_EQ(fields[0].members[0].note, "");
  EXPECT_THAT(names(fields[1].members[0].members), ElementsAre("b", "b_more"));
}

}  // namespace
}  // namespace blip::ctf
