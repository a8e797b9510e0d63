// SPDX-License-Identifier: MIT
#include "cli/output/escape.h"

#include <gtest/gtest.h>

namespace blip::cli {
namespace {

using namespace std::string_literals;

std::string json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

struct Case {
  const char* what;
  std::string text, terminal, json;
};

const Case kCases[] = {
    {"plain", "parse_request", "parse_request", R"("parse_request")"},
    {"letters beyond ASCII", "größe 世界 🙂", "größe 世界 🙂", R"("größe 世界 🙂")"},
    {"escape sequence", "\x1b]0;x\a", R"(\x1b]0;x\x07)", R"("\u001b]0;x\u0007")"},
    {"NUL and DEL", "a\0b\x7f"s, R"(a\x00b\x7f)", R"("a\u0000b\u007f")"},
    {"line ends", "a\n\r\t", R"(a\n\r\t)", R"("a\n\r\t")"},
    {"backslash", "a\\x1b", R"(a\\x1b)", R"("a\\x1b")"},
    {"C1 control sequence introducer", "\u009b31m", R"(\u009b31m)", R"("\u009b31m")"},
    {"right-to-left override", "a\u202eb", R"(a\u202eb)", R"("a\u202eb")"},
    {"bidi isolates and marks", "\u2066\u2069\u200e\u200f\u061c", R"(\u2066\u2069\u200e\u200f\u061c)",
     R"("\u2066\u2069\u200e\u200f\u061c")"},
    {"line separator", "\u2028\u2029", R"(\u2028\u2029)", R"("\u2028\u2029")"},
    {"lone continuation byte", "\x80", R"(\x80)", R"("\ufffd")"},
    {"raw C1 byte", "\x9b", R"(\x9b)", R"("\ufffd")"},
    {"overlong slash", "\xc0\xaf", R"(\xc0\xaf)", R"("\ufffd\ufffd")"},
    {"overlong escape", "\xe0\x80\x9b", R"(\xe0\x80\x9b)", R"("\ufffd\ufffd\ufffd")"},
    {"surrogate", "\xed\xa0\x80", R"(\xed\xa0\x80)", R"("\ufffd\ufffd\ufffd")"},
    {"above U+10FFFF", "\xf4\x90\x80\x80", R"(\xf4\x90\x80\x80)", R"("\ufffd\ufffd\ufffd\ufffd")"},
    {"cut in the middle", "gr\xc3", R"(gr\xc3)", R"("gr\ufffd")"},
    {"cut before ASCII", "\xe4\xb8x", R"(\xe4\xb8x)", R"("\ufffd\ufffdx")"},
};

TEST(Escape, terminal) {
  for (const Case& c : kCases) EXPECT_EQ(escaped(c.text), c.terminal) << c.what;
}

TEST(Escape, json) {
  for (const Case& c : kCases) EXPECT_EQ(json(c.text), c.json) << c.what;
}

TEST(Escape, quotes_only_inside_quotes) {
  EXPECT_EQ(escaped("operator\"\"_s"), "operator\"\"_s");
  std::string out;
  append_escaped(out, "a\"b", true);
  EXPECT_EQ(out, "a\\\"b");
  EXPECT_EQ(json("a\"b"), "\"a\\\"b\"");
}

TEST(Escape, no_single_byte_or_pair_gets_through_raw) {
  for (unsigned first = 0; first < 256; ++first) {
    for (unsigned second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      for (const std::string& out : {escaped(text), json(text)})
        for (unsigned char c : out) ASSERT_TRUE(c >= 0x20 && c != 0x7f) << first << " " << second;
    }
  }
}

}  // namespace
}  // namespace blip::cli
