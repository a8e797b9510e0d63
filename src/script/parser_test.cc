// SPDX-License-Identifier: MIT
#include "script/parser.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace blip::script {
namespace {

using Kind = Expression::Kind;

bool is_type(std::string_view name) { return name == "size_t" || name == "request"; }

// With all its parentheses.
std::string text_of(const Expression& e) {
  const auto operand = [&](size_t i) { return text_of(*e.operands[i]); };
  const std::string type = e.type.base + std::string(e.type.pointers, '*');
  switch (e.kind) {
    case Kind::kNumber:
      return fmt::format("{}{}{}", e.number, e.is_unsigned ? "u" : "", e.is_long ? "l" : "");
    case Kind::kCharacter:
      return fmt::format("'{}'", static_cast<int64_t>(e.number));
    case Kind::kText:
      return '"' + e.text + '"';
    case Kind::kName:
      return e.where.empty() ? e.text : e.where + "::" + e.text;
    case Kind::kRegister:
      return '$' + e.text;
    case Kind::kMember:
      return operand(0) + '.' + e.text;
    case Kind::kArrow:
      return operand(0) + "->" + e.text;
    case Kind::kIndex:
      return operand(0) + '[' + operand(1) + ']';
    case Kind::kSlice:
      return operand(0) + '[' + operand(1) + ".." + operand(2) + ']';
    case Kind::kUnary:
      return e.text + operand(0);
    case Kind::kBinary:
      return '(' + operand(0) + ' ' + e.text + ' ' + operand(1) + ')';
    case Kind::kConditional:
      return '(' + operand(0) + " ? " + operand(1) + " : " + operand(2) + ')';
    case Kind::kCast:
      return "(" + type + ')' + operand(0);
    case Kind::kSizeOfType:
      return "sizeof(" + type + ')';
    default:
      break;
  }
  std::string all = e.text + '(';
  for (size_t i = 0; i < e.operands.size(); ++i) all += (i ? ", " : "") + operand(i);
  return all + ')';
}

TEST(Parser, as_c_reads_it) {
  const std::pair<const char*, const char*> kCases[] = {
      {"a + b * c - d", "((a + (b * c)) - d)"},
      {"a & b == c", "(a & (b == c))"},
      {"a < b << 2 == c", "((a < (b << 2)) == c)"},
      {"a || b && c | d ^ e & f", "(a || (b && (c | (d ^ (e & f)))))"},
      {"a && b && c && d", "((a && b) && (c && d))"},
      {"a ? b : c ? d : e", "(a ? b : (c ? d : e))"},
      {"-a->b.c[2]", "-a->b.c[2]"},
      {"*p++b", "(*p + +b)"},
      {"!~-+*&x", "!~-+*&x"},
      {"(struct request *)x->y", "(struct request*)x->y"},
      {"(unsigned char)x + 1", "((unsigned char)x + 1)"},
      {"(long unsigned int)x", "(unsigned long)x"},
      {"(const char *const *)x", "(char**)x"},
      {"(size_t)-1", "(size_t)-1"},
      {"(n)-1", "(n - 1)"},
      {"(request)*x", "(request)*x"},
      {"(other)x", "(other)x"},
      {"(other *)x", "(other*)x"},
      {"(a * b)", "(a * b)"},
      {"(ns::thing *)x", "(ns::thing*)x"},
      {"0x1f + 017 + 10ul + 0", "(((31 + 15) + 10ul) + 0)"},
      {"'a' + '\\n' + '\\x41' + '\\0' + '\\377'", "(((('97' + '10') + '65') + '0') + '-1')"},
      {"s == \"a\\\"b\\\\\"", "(s == \"a\"b\\\")"},
      {"buf[0..n]", "buf[0..n]"},
      {"buf[i + 1 .. i + 4]", "buf[(i + 1)..(i + 4)]"},
      {"$rax + reg(\"rbx\")", "($rax + reg(\"rbx\"))"},
      {"server.c::count + libc-2.so.6::environ", "(server.c::count + libc-2.so.6::environ)"},
      {"\"my-prog\"::x", "my-prog::x"},
      {"ns::x + a.b", "(ns::x + a.b)"},
      {"entry(n + 1)", "entry((n + 1))"},
      {"startswith(p, \"/a\")", "startswith(p, \"/a\")"},
      {"sizeof(struct a) + sizeof(x) + sizeof(size_t) + sizeof(a *)",
       "(((sizeof(struct a) + sizeof(x)) + sizeof(size_t)) + sizeof(a*))"},
      {"latency > 1ms && x < 2us", "((latency > 1000000l) && (x < 2000l))"},
      {"3s + 64k + 1M + 2G + 7ns", "((((3000000000l + 65536l) + 1048576l) + 2147483648l) + 7l)"},
      {"1e3 + 2E6 + 1.5us + 0.25k + 1e+2", "((((1000l + 2000000l) + 1500l) + 256l) + 100l)"},
      {"0b11 + 0B1000", "(3 + 8)"},
      {"latency_ns > 1000 && !(ret == 0 || depth >= 2)",
       "((latency_ns > 1000) && !((ret == 0) || (depth >= 2)))"},
  };
  for (const auto& [source, wanted] : kCases) {
    const auto e = parse_expression(source, is_type);
    ASSERT_TRUE(e) << source << e.error().message();
    EXPECT_EQ(text_of(**e), wanted) << source;
  }
}

TEST(Parser, lists_name_their_fields) {
  const auto items = parse_list("n, total = a + b,req->path , *p", is_type);
  ASSERT_TRUE(items);
  std::vector<std::string> names;
  for (const Item& item : *items) names.push_back(item.name);
  EXPECT_THAT(names, testing::ElementsAre("n", "total", "req->path", "*p"));
}

TEST(Parser, errors_show_where) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"", "a value should come here\n  \n  ^"},
      {"a >", "a value should come here\n  a >\n     ^"},
      {"a >> > 5", "a value should come here\n  a >> > 5\n       ^"},
      {"a == 5x", "'5x' is no number\n  a == 5x\n       ^~"},
      {"a == 5sx", "'5sx' is no number\n  a == 5sx\n       ^~~"},
      {"a == 0b12", "'0b12' is no number\n  a == 0b12\n       ^~~~"},
      {"a == 0x1k", "'0x1k' is no number\n  a == 0x1k\n       ^~~~"},
      {"a == 017ms", "'017ms' is no number\n  a == 017ms\n       ^~~~~"},
      {"a == 1.5ns", "no whole number of nanoseconds or bytes\n  a == 1.5ns\n       ^~~~~"},
      {"a == 1e", "this is no number\n  a == 1e\n       ^~"},
      {"a == 1e3x", "this is no number\n  a == 1e3x\n       ^~~~"},
      {"a == 1e999", "this is no number\n  a == 1e999\n       ^~~~~"},
      {"a == 99999999999G", "bits or less\n  a == 99999999999G\n       ^~~~~~~~~~~~"},
      {"a == 99999999999999999999", "bits or less\n  a == 99999999999999999999\n       ^~~~~~~~~~~~~~~~~~~~"},
      {"a = 5", "'=' compares nothing: use ==\n  a = 5\n    ^"},
      {"(a == 5", "a ')' is missing here\n  (a == 5\n         ^"},
      {"a == 5)", "an operator or the end should come here\n  a == 5)\n        ^"},
      {"a b", "an operator or the end should come here\n  a b\n    ^"},
      {"a.", "the name of a member should come here\n  a.\n    ^"},
      {"a[1", "a ']' is missing here\n  a[1\n     ^"},
      {"a ? b", "a ':' is missing here\n  a ? b\n       ^"},
      {"s == \"x", "a \" is missing\n  s == \"x\n       ^~"},
      {"'ab'", "'x', or \"text\"\n  'ab'\n  ^~"},
      {"'\\q'", "no such escape: use \\n \\t \\\\ \\\" \\x41 \\101\n  '\\q'\n  ^~~"},
      {"a # b", "has no meaning here\n  a # b\n    ^"},
      {"$ + 1", "should follow the $: $rax\n  $ + 1\n  ^"},
      {"(long char)x", "'long char' is no type\n  (long char)x\n   ^~~~~~~~~"},
      {"a +\n  b c", "the end should come here\n    b c\n      ^"},
      {"\xc3\xa9", "has no meaning here\n  \xc3\xa9\n  ^"},
      {"f(1", "a ')' is missing here\n  f(1\n     ^"},
  };
  for (const auto& [source, message] : kWrong) {
    const auto e = parse_expression(source, is_type);
    ASSERT_FALSE(e) << source;
    EXPECT_EQ(e.error().kind(), ErrorKind::kUsage);
    EXPECT_THAT(e.error().message(), testing::EndsWith(message)) << source;
  }
  EXPECT_FALSE(parse_list("a,,b", is_type));
  EXPECT_FALSE(parse_list("a,", is_type));
}

TEST(Parser, what_is_too_deep_or_too_long_is_refused) {
  const auto refuses = [](const std::string& source, const char* message) {
    const auto e = parse_expression(source, is_type);
    ASSERT_FALSE(e) << source;
    EXPECT_THAT(e.error().message(), testing::HasSubstr(message));
  };
  for (const char* c : {"(", "!", "a[", "f(", "a?", "(int)", "-", "*"}) {
    std::string source;
    for (int i = 0; i < 500; ++i) source += c;
    refuses(source, "nested too deep");
  }
  std::string sum = "a";
  for (int i = 0; i < 1000; ++i) sum += "+a";
  refuses(sum, "nested too deep");
  refuses(std::string(5000, 'a'), "too long: 5000 bytes, at most 4096");
  refuses("(char *********)x", "too many pointers");
  std::string sides = "a";
  for (int i = 0; i < 800; ++i) sides += "&&a";
  EXPECT_TRUE(parse_expression(sides, is_type));
}

TEST(Diagnostics, nothing_in_it_steers_the_terminal) {
  EXPECT_EQ(error_at("a\tb\x1b", {2, 3}, "no \x1b[31mname\n").message(), "no  [31mname \n  a b \n    ^");
}

TEST(Diagnostics, of_a_long_line_the_part_around_the_place_is_shown) {
  EXPECT_EQ(
      error_at(std::string(300, 'a') + "nn" + std::string(300, 'b'), {300, 302}, "no").message(),
      "no\n  " + std::string(40, 'a') + "nn" + std::string(78, 'b') + "\n  " + std::string(40, ' ') + "^~");
}

TEST(Diagnostics, names_that_are_near_come_first) {
  EXPECT_EQ(list_names({"zeta", "count", "alpha", "zeta", ""}, "cuont"), "alpha, count, zeta");
  EXPECT_EQ(list_names({"zeta", "count", "alpha"}, "coumt"), "count, alpha, zeta");
  std::vector<std::string> many;
  for (int i = 0; i < 20; ++i) many.push_back(fmt::format("v{:02}", i));
  EXPECT_THAT(list_names(many, "v19x"),
              testing::AllOf(testing::StartsWith("v19, v00"), testing::EndsWith(" v10 and 8 more")));
}

TEST(Parser, items_are_named_as_they_are_written) {
  const auto items =
      parse_list("(*p).v, (a), ((struct s *)q)->n + (1), x = (y)", [](std::string_view) { return false; });
  ASSERT_TRUE(items);
  ASSERT_EQ(items->size(), 4U);
  EXPECT_EQ((*items)[0].name, "(*p).v");
  EXPECT_EQ((*items)[1].name, "(a)");
  EXPECT_EQ((*items)[2].name, "((struct s *)q)->n + (1)");
  EXPECT_EQ((*items)[3].name, "x");
}

}  // namespace
}  // namespace blip::script
