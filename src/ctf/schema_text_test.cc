// SPDX-License-Identifier: MIT
#include "ctf/schema_text.h"

#include <gtest/gtest.h>

#include "ctf/test_captured.h"

namespace blip::ctf {
namespace {

using namespace ctf::testing;

std::optional<std::vector<EventClass>> read(std::string_view text) {
  SchemaReader reader;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    Words words(text.substr(0, end));
    const std::string_view kind = words.next();
    if (!reader.take(kind, words)) return std::nullopt;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finish();
}

std::vector<EventClass> examples() {
  EventClass plain{.id = 2, .name = "operator new(unsigned long)"};
  plain.leads_with_pid = plain.tells_files = plain.many_places = true;
  plain.fields = {{"vpid", FieldType::kInt32, 0, true, true},
                  {.name = "latency_ns", .type = FieldType::kUint64, .is_duration = true}};
  lay_out(plain);
  Field pointer = integer("p", 0, 8, false);
  pointer.is_hex = true;
  const Field point = structure("", {integer("x", kNoOutput, 2), bits(integer("y", kNoOutput, 2), 3, 5)});
  return {plain, captured_class({fixed(8, true), string(40), elements(4, 9)},
                                {pointer, labelled(integer("color", 0, 4), {{-1, "A B"}, {INT64_MAX, "%"}}),
                                 structure("s", {text("path", 1), sequence("pts", 2, 4, point),
                                                 note("gone", "<optimized out>")})},
                                3, "\xc3\xa9\n")};
}

TEST(SchemaText, comes_back_as_it_was) {
  const std::vector<EventClass> before = examples();
  const auto after = read(schema_text(before));
  ASSERT_TRUE(after);
  EXPECT_EQ(schema_text(*after), schema_text(before));
  ASSERT_EQ(after->size(), before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after->at(i).name, before[i].name);
    EXPECT_EQ(after->at(i).record_size, before[i].record_size);
    EXPECT_EQ(after->at(i).fixed_size, before[i].fixed_size);
    EXPECT_EQ(after->at(i).tells_files, before[i].tells_files);
    EXPECT_EQ(after->at(i).many_places, before[i].many_places);
  }
  EXPECT_TRUE(after->at(0).fields[1].is_duration);
  EXPECT_TRUE(after->at(1).fields[0].is_hex);
  EXPECT_EQ(after->at(1).fields[1].labels, before[1].fields[1].labels);
}

TEST(SchemaText, lines_in_the_wrong_place_are_refused) {
  EXPECT_TRUE(read(""));
  EXPECT_TRUE(read("class 2 0 0 0 =a\nfield 0 0 0 =b"));
  for (const char* text : {"\n", "field 0 0 0 =b", "class 3 0 0 0 =a", "class 2 0 0 0 =a\nlabel 1 =b",
                           "class 2 0 0 0 =a\nduration", "class 2 0 0 0 =a\nfield 8 0 0 =b",
                           "class 2 0 0 0 =a\nhit\ntyped 1 8 0 0 0 0 4 0 0 0 0 0 =n =",
                           "class 2 1 0 0 =a\nfield 2 1 0 =vpid", "class 2 0 0 0 =a\nnobody"})
    EXPECT_FALSE(read(text)) << text;
}

TEST(TextWords, any_text_is_one_word) {
  for (const std::string text : {"", "a", "a b", "100%", "=", "\n\xff", "%20"}) {
    const std::string word = to_word(text);
    EXPECT_EQ(word.find_first_of(" \n"), std::string::npos);
    Words words(word);
    EXPECT_EQ(words.text(), text);
    EXPECT_FALSE(words.bad());
  }
}

TEST(TextWords, after_a_wrong_word_all_are_bad) {
  for (const char* line : {"", " =a", "a", "=%", "=%4", "=%zz"}) {
    Words words(line);
    (void)words.text();
    EXPECT_TRUE(words.bad()) << line;
  }
  Words words("1 256 7");
  EXPECT_EQ(words.number<uint32_t>(0, 9), 1u);
  EXPECT_EQ(words.number<uint8_t>(3, 255), 3u);
  EXPECT_TRUE(words.bad());
  EXPECT_EQ(words.number<uint32_t>(0, 9), 0u) << "bad from now on";
}

}  // namespace
}  // namespace blip::ctf
