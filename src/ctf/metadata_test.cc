// SPDX-License-Identifier: MIT
#include "ctf/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace blip::ctf {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(TsdlString, escapes) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"main", R"("main")"},
      {"operator\"\"_s", R"("operator\"\"_s")"},
      {"a\\b", R"("a\\b")"},
      {"\x1b[31m", R"("\\x1b[31m")"},
      {"a\nb\tc", R"("a\\x0ab\\x09c")"},
      {std::string_view("a\0b", 3), R"("a\\x00b")"},
      {"gr\xc3\xb6\xc3\x9f"
       "e",
       "\"gr\xc3\xb6\xc3\x9f"
       "e\""},
      {"\xe2\x82\xac \xf0\x9f\x99\x82", "\"\xe2\x82\xac \xf0\x9f\x99\x82\""},
      {"\xc2\x9b"
       "31m",
       R"("\\xc2\\x9b31m")"},                    // C1: obeyed by terminals
      {"\xc0\xaf", R"("\\xc0\\xaf")"},           // overlong
      {"\xed\xa0\x80", R"("\\xed\\xa0\\x80")"},  // surrogate
      {"\xf4\x90\x80\x80", R"("\\xf4\\x90\\x80\\x80")"},
      {"cut \xe2\x82", R"("cut \\xe2\\x82")"},
      {"\x7f", R"("\\x7f")"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(tsdl_string(text), expected);
}

TEST(TsdlString, keeps_64_kib_and_cuts_the_absurd) {
  EXPECT_EQ(tsdl_string(std::string(65536, '<')).size(), 65538u);
  const std::string cut = tsdl_string(std::string(10'000'000, '<'));
  EXPECT_LT(cut.size(), 300'000u);
  EXPECT_TRUE(cut.ends_with("...\""));
}

TEST(TsdlIdentifier, any_name_becomes_one) {
  EXPECT_EQ(tsdl_identifier("rdi"), "_rdi");
  EXPECT_EQ(tsdl_identifier("a-b.c:d"), "_a_b_c_d");
  EXPECT_EQ(tsdl_identifier("9"), "_9");
  EXPECT_EQ(tsdl_identifier("struct"), "_struct");
  EXPECT_EQ(tsdl_identifier("\xc3\xb6"), "___");
  EXPECT_EQ(tsdl_identifier(""), "_");
}

TEST(Metadata, contexts_of_all_classes_are_declared_once) {
  EventClass a{1, "a", {{"vtid", FieldType::kInt32, 0, true}}};
  EventClass b{2, "b", {{"vtid", FieldType::kInt32, 0, true}, {"rdi", FieldType::kHex64}}};
  const EventClass classes[] = {a, b};
  const std::string text = metadata_text({}, classes, {});
  EXPECT_THAT(text, HasSubstr("\tevent.context := struct { int32_t _vtid; };"));
  EXPECT_THAT(text, Not(HasSubstr("\tcontext :=")));
}

TEST(Metadata, different_contexts_are_declared_per_class) {
  EventClass a{1, "a", {{"vtid", FieldType::kInt32, 0, true}}};
  EventClass b{2, "b", {{"ip", FieldType::kHex64, 0, true}}};
  const EventClass classes[] = {a, b};
  const std::string text = metadata_text({}, classes, {});
  EXPECT_THAT(text, Not(HasSubstr("event.context")));
  EXPECT_THAT(text, HasSubstr("\tcontext := struct { int32_t _vtid; };"));
  EXPECT_THAT(text, HasSubstr("\tcontext := struct { hex64_t _ip; };"));
}

TEST(Metadata, names_that_become_equal_are_numbered) {
  const EventClass classes[] = {
      {1, "a", {{"x.y", FieldType::kInt32}, {"x-y", FieldType::kInt32}, {"x_y_2", FieldType::kInt32}}}};
  EXPECT_THAT(metadata_text({}, classes, {}),
              HasSubstr("struct { int32_t _x_y; int32_t _x_y_2; int32_t _x_y_2_2; }"));
}

TEST(Metadata, says_what_the_trace_is_about) {
  const TraceInfo info{
      "box", "my \"srv\"", 4711, "blip record -p 4711", "2026-01-02T03:04:05Z", 1'700'000'000'000'000'007};
  Uuid uuid;
  for (size_t i = 0; i < uuid.size(); ++i) uuid[i] = uint8_t(i * 17);
  const std::string text = metadata_text(info, {}, uuid);
  EXPECT_TRUE(text.starts_with("/* CTF 1.8 */"));
  for (const char* part :
       {"uuid = \"00112233-4455-6677-8899-aabbccddeeff\"", "hostname = \"box\"",
        "procname = \"my \\\"srv\\\"\"", "vpid = 4711", "command_line = \"blip record -p 4711\"",
        "offset_s = 1700000000;", "offset = 7;", "trace_creation_datetime = \"2026-01-02T03:04:05Z\""}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Uuid, is_random_and_of_version_4) {
  const Uuid a = random_uuid();
  EXPECT_NE(a, random_uuid());
  EXPECT_EQ(a[6] >> 4, 4);
  EXPECT_EQ(a[8] >> 6, 2);
}

}  // namespace
}  // namespace blip::ctf
