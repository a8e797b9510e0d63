// SPDX-License-Identifier: MIT
// Scripts and what they are parsed as: with all parentheses, or the error. At least one line for each rule of the grammar.
#include "stap/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stap/tree_text.h"

namespace blip::stap {

namespace {

using testing::HasSubstr;

Settings settings() { return {.arguments = {"7", "two words", "x+"}, .kernel_release = "6.1.0-18-amd64"}; }

// The tree, or the first line of the error without the file's name.
std::string parsed(const std::string& text, const Settings& with = settings()) {
  const Source source{.name = "a.stp", .text = text};
  const auto file = parse(source, with, {});
  if (!file) {
    const std::string& message = file.error().message();
    return message.substr(6, message.find('\n') - 6);
  }
  std::string result = text_of(*file);
  if (!result.empty()) result.pop_back();
  return result;
}

// The only expression of a handler.
std::string expression(const std::string& text) {
  const std::string result = parsed("probe begin { x = " + text + " }");
  constexpr std::string_view kBefore = "probe begin { (x = ", kBehind = "); }";
  if (!result.starts_with(kBefore)) return result;
  return result.substr(kBefore.size(), result.size() - kBefore.size() - kBehind.size());
}

std::string statement(const std::string& text) {
  const std::string result = parsed("probe begin { " + text + " }");
  constexpr std::string_view kBefore = "probe begin { ", kBehind = " }";
  if (!result.starts_with(kBefore)) return result;
  return result.substr(kBefore.size(), result.size() - kBefore.size() - kBehind.size());
}

struct Row {
  const char* text;
  const char* expected;
};

TEST(StapParser, expressions) {
  constexpr Row kRows[] = {
      {"1 + 2 * 3 - 4", "((1 + (2 * 3)) - 4)"},
      {"1 - 2 - 3", "((1 - 2) - 3)"},
      {"a / b % c", "((a / b) % c)"},
      {"1 << 2 + 3", "(1 << (2 + 3))"},
      {"a >> b >>> c", "((a >> b) >>> c)"},
      {"a . b . c", "((a . b) . c)"},
      {"a . b + c << d", "((a . (b + c)) << d)"},
      {"a < b == c", "((a < b) == c)"},
      {"a <= b >= c != d > e", "((((a <= b) >= c) != d) > e)"},
      {"a & b | c ^ d", "((a & b) | (c ^ d))"},
      {"a & b == c", "(a & (b == c))"},
      {"a || b && c", "(a || (b && c))"},
      {"a && b | c", "(a && (b | c))"},
      {"a ? b : c ? d : e", "(a ? b : (c ? d : e))"},
      {"a ? b = 1 : c", "(a ? (b = 1) : c)"},
      {"b = c = 1", "(b = (c = 1))"},
      {"(1 + 2) * 3", "((1 + 2) * 3)"},
      {"-a + !b * ~c", "((-a) + ((!b) * (~c)))"},
      {"- - 1", "(-(-1))"},
      {"+a", "(+a)"},
      {"++a + b++", "((++a) + (b++))"},
      {"--a - b--", "((--a) - (b--))"},
      {"a =~ \"x\" \"y\"", "(a =~ \"xy\")"},
      {"a !~ \"x\" && b", "((a !~ \"x\") && b)"},
      {"a in b", "([a] in b)"},
      {"[a, b + 1] in c & d", "(([a, (b + 1)] in c) & d)"},
      {"[*, 1] in a", "([*, 1] in a)"},
      {"a[1, \"x\", *]", "a[1, \"x\", *]"},
      {"a += b <<= 1", "(a += (b <<= 1))"},
      {"s .= \"x\"", "(s .= \"x\")"},
      {"f()", "f()"},
      {"f(1, g(2), \"x\")", "f(1, g(2), \"x\")"},
      {"0x1F + 010 + 0", "((31 + 8) + 0)"},
      {"18446744073709551615", "-1"},
      {"\"a\\tb\\x41\\101\\q\\\"\\n\"", "\"a\\tbAAq\\\"\\n\""},
      {"\"a\" /* c */ \"b\" # d\n \"c\" // e\n", "\"abc\""},
      {"@count(a) + @sum(b[1])", "(@count(a) + @sum(b[1]))"},
      {"@min(a) + @max(a) + @avg(a) + @variance(a, 3)",
       "(((@min(a) + @max(a)) + @avg(a)) + @variance(a, 3))"},
      {"@hist_log(a)[3]", "@hist_log(a)[3]"},
      {"@hist_linear(a[\"x\"], 0, 100, 10)[2]", "@hist_linear(a[\"x\"], 0, 100, 10)[2]"},
      {"3 in @hist_log(a)", "([3] in @hist_log(a))"},
      {"$p", "$p"},
      {"$p->m", "$p->m"},
      {"$p->m[i + 1]->next", "$p->m[(i + 1)]->next"},
      {"&$p->m", "&$p->m"},
      {"$p$", "$p$"},
      {"$p->m$$", "$p->m$$"},
      {"$p->$", "$p$"},
      {"$p[3] $", "$p[3]$"},
      {"$$vars", "$$vars"},
      {"$$parms$", "$$parms$"},
      {"$p->if", "$p->if"},
      {"@cast(p, \"struct x\", \"m\")->a$", "@cast(p, \"struct x\", \"m\")->a$"},
      {"@var(\"g@a.c\", \"m\")->x", "@var(\"g@a.c\", \"m\")->x"},
      {"&@var(\"g\")", "&@var(\"g\")"},
      {"f(x)->m[1]", "(f(x))->m[1]"},
      {"&p->m", "&(p)->m"},
      {"@entry($p->n)", "@entry($p->n)"},
      {"@defined($p->n) ? 1 : 0", "(@defined($p->n) ? 1 : 0)"},
      {"@perf(\"a\")", "@perf(\"a\")"},
      {"@uregister(3) + @uderef(4, p)", "(@uregister(3) + @uderef(4, p))"},
      {"@enum(\"RED\")", "@enum(\"RED\")"},
      {"@enumname(x, \"enum color\")", "@enumname(x, \"enum color\")"},
      {"sprintf(\"%d %s\", 1, a)", "sprintf(\"%d %s\", 1, a)"},
      {"sprint(a, b)", "sprint(a, b)"},
      {"sprintd(\",\", a, b)", "sprintd(\",\", a, b)"},
      {"@probewrite(a)", "@probewrite(a)"},
      // Errors.
      {"", "1:20: a value is expected here"},
      {"1 +", "1:23: a value is expected here"},
      {"(1", "1:22: a ')' is missing here"},
      {"a ? b", "1:25: a ':' is missing here"},
      {"1x", "1:19: this number is not valid, or too large"},
      {"18446744073709551616", "1:19: this number is not valid, or too large"},
      {"[a, b]", "1:19: a list of keys is only part of [KEYS] in ARRAY"},
      {"[a", "1:22: a ',' or ']' is missing here"},
      {"a[1", "1:23: a ',' or ']' is missing here"},
      {"f(1", "1:23: a ',' or ')' is missing here"},
      {"a in 1", "1:24: the name of an array is expected here"},
      {"a =~ b", "1:24: a regular expression in quotes is expected here"},
      {"@hist_log(a)",
       "1:19: @hist_log is no value: print() draws it, and @hist_log(x)[N] is one of its buckets"},
      {"@hist_linear(a, 1, 2)", "1:39: a ',' is missing here"},
      {"@count(a, 1)", "1:27: a ')' is missing here"},
      {"@nothing(a)", "1:19: there is no macro or operator @nothing"},
      {"@cast(a)", "1:26: a ',' and the type are missing here"},
      {"@cast(a, \"\")", "1:28: a type may not be empty"},
      {"@perf(\"\")", "1:25: this text may not be empty"},
      {"@kregister(0)", "1:19: @kregister() looks at the kernel: blip sees user space only"},
      {"$p->1", "1:23: the name of a member is expected here"},
      {"$p$->a", "1:22: a value that $ has made a text of has no members"},
      {"&(&a)", "1:19: the address of an address is none"},
      {"\"abc", "1:19: the quote that ends this text is missing"},
      {"\x01", "1:19: the character \\x01 has no meaning here"},
      {"%{ 1 %}", "1:19: embedded C needs -g"},
      {"@const(\"1\")", "1:19: @const() is embedded C, which needs -g"},
      {"sprintf(a)", "1:27: a text in quotes is expected here"},
      {"sprintf(\"%y\", 1)", "1:27: after a % one of b c d i m M o p s u x X is expected, or another %"},
      {"sprintf(\"%l\", 1)", "1:27: the conversion at the end of this format is not complete"},
      {"sprint()", "1:26: sprint() prints at least 1"},
      {"sprintd(\",\")", "1:30: a ',' is missing here"},
      {"$9", "1:19: this argument is missing: the command line has 3"},
  };
  for (const Row& row : kRows) EXPECT_EQ(expression(row.text), row.expected) << row.text;
  EXPECT_EQ(expression("$1 + $#"), "(7 + 3)");
  EXPECT_EQ(expression("@2 . @#"), "(\"two words\" . \"3\")");
  EXPECT_EQ(expression("$3 1"), "(x + 1)");
}

TEST(StapParser, statements) {
  constexpr Row kRows[] = {
      {";", ";"},
      {"{ }", "{ }"},
      {"{ a; ; b }", "{ a; ; b; }"},
      {"a b", "a; b;"},
      {"if (a) b", "if (a) b;"},
      {"if (a) if (b) c else d", "if (a) if (b) c; else d;"},
      {"while (a) b", "for (; a; ) b;"},
      {"for (;;) a", "for (; ; ) a;"},
      {"for (i = 0; i < 3; i++) a", "for ((i = 0); (i < 3); (i++)) a;"},
      {"foreach (k in a) b", "foreach ([k] in a) b;"},
      {"foreach (k- in a limit 3) b", "foreach ([k-] in a limit 3) b;"},
      {"foreach ([i, j+] in a) b", "foreach ([i, j+] in a) b;"},
      {"foreach (v = k in a+) b", "foreach (v = [k] in a+) b;"},
      {"foreach (v- = [i, j] in a[*, 1]) b", "foreach (v = [i, j] in a[*, 1]-) b;"},
      {"foreach (k in a @count- limit n) b", "foreach ([k] in a @count- limit n) b;"},
      {"foreach (k in @hist_log(a)) b", "foreach ([k] in @hist_log(a)) b;"},
      {"delete a", "delete a;"},
      {"delete a[1, *]", "delete a[1, *];"},
      {"next", "next;"},
      {"while (1) { break; continue }", "for (; 1; ) { break; continue; }"},
      {"try { a } catch { b }", "try { a; } catch { b; }"},
      {"try { a } catch (m) { b }", "try { a; } catch (m) { b; }"},
      {"print(@hist_log(a))", "print(@hist_log(a));"},
      {"print(@hist_log(a)[1], 2)", "print(@hist_log(a)[1], 2);"},
      {"println()", "println();"},
      {"printf(\"%*.*d|%-5s|%#x|%%\", 1, 2, 3, a, b)", "printf(\"%*.*d|%-5s|%#x|%%\", 1, 2, 3, a, b);"},
      {"printd(\",\", 1, 2)", "printd(\",\", 1, 2);"},
      {"printdln(\",\", 1, 2)", "printdln(\",\", 1, 2);"},
      {"print_char(65)", "print_char(65);"},
      {"a <<< 1", "(a <<< 1);"},
      // Errors.
      {"{", "1:18: the '}' that ends a block is missing here"},
      {"if a", "1:18: a '(' is missing here"},
      {"if (a) else b", "1:22: a statement is expected here"},
      {"for (a b) c", "1:22: a ';' is missing here"},
      {"foreach (1 in a) b", "1:24: the name of a variable is expected here"},
      {"foreach (k of a) b", "1:26: an 'in' is missing here"},
      {"foreach ([i j] in a) b", "1:27: a ',' or ']' is missing here"},
      {"foreach ([i+, j-] in a) b", "1:30: a loop is sorted by one thing only"},
      {"foreach (k+ in a-) b", "1:31: a loop is sorted by one thing only"},
      {"foreach (k in a @count) b", "1:37: a + or - is missing here"},
      {"foreach (k in a @nothing-) b", "1:31: @count, @sum, @min, @max, @avg or @variance is expected here"},
      {"try { }", "1:23: a 'catch' is missing here"},
      {"try { } catch (1) { }", "1:30: the name of a variable is expected here"},
      {"return 1", "1:15: only a function has a 'return': 'next' ends a probe's handler"},
      {"probe", "1:15: a statement is expected here"},
  };
  for (const Row& row : kRows) EXPECT_EQ(statement(row.text), row.expected) << row.text;
}

TEST(StapParser, declarations) {
  constexpr Row kRows[] = {
      {"global a", "global a"},
      {"global a, b = 1; global c = \"x\"", "global a\nglobal b = 1\nglobal c = \"x\""},
      {"global a[100], b%, c%[5]", "global a[100]\nglobal b%\nglobal c%[5]"},
      {"global a = -1", "global a = -1"},
      {"private a private global b", "private a\nprivate b"},
      {"function f() { }", "function f() { }"},
      {"function f:long(a:string, b) { return 1 }", "function f:long(a:string, b) { return 1; }"},
      {"function f(a,) { return }", "function f(a) { return; }"},
      {"private function f() { }", "private function f() { }"},
      {"function f() : 3 { }", "function f() { }"},
      {"function string() { }", "function string() { }"},
      {"probe begin { }", "probe begin { }"},
      {"probe begin, end { }", "probe begin, end { }"},
      {"probe begin(-5) { }", "probe begin(-5) { }"},
      {"probe process(\"a\" \"b\").function(\"f*\").return ? { }",
       "probe process(\"ab\").function(\"f*\").return? { }"},
      {"probe a.b! , c { }", "probe a.b!, c { }"},
      {"probe a if (x > 1) { }", "probe a if ((x > 1)) { }"},
      {"probe a ? if (x) { }", "probe a? if (x) { }"},
      {"probe syscall.*open*.x* { }", "probe syscall.*open*.x* { }"},
      {"probe a.{b, c.d}.e { }", "probe a.b.e, a.c.d.e { }"},
      {"probe {a, b} { }", "probe a, b { }"},
      {"probe a.{b?, c} { }", "probe a.b?, a.c { }"},
      {"probe x = y { }", "probe x = y { }"},
      {"probe x.y = z = a, b { }", "probe x.y = z = a, b { }"},
      {"probe x += y { c }", "probe x += y { c; }"},
      {"probe x = y { a }, { b }", "probe x = y { a; }, { b; }"},
      {"probe timer.s(1).randomize(2) { }", "probe timer.s(1).randomize(2) { }"},
      {"probe process.function(\"f\").if { }", "probe process.function(\"f\").if { }"},
      // Errors.
      {"", "1:1: the script is empty"},
      {"foo", "1:1: 'probe', 'global', 'private' or 'function' is expected here"},
      {"global 1", "1:8: the name of a global is expected here"},
      {"global a, a", "1:11: the global a is there already, at a.stp:1:8"},
      {"global a[0]", "1:10: an array has 1 to 2147483647 elements"},
      {"global a[1] = 2", "1:13: an array has no first value"},
      {"global a = b", "1:12: a value is expected here"},
      {"function 1", "1:10: the name of a function is expected here"},
      {"function f:stats() { }", "1:12: 'string' or 'long' is expected here"},
      {"function f { }", "1:12: a '(' is missing here"},
      {"function f(a b) { }", "1:14: a ',' or ')' is missing here"},
      {"function f(a, a) { }", "1:15: the function has two parameters a"},
      {"function f() : 0 { }", "1:16: a priority is 1 or more"},
      {"function f() %{ %}", "1:14: embedded C needs -g"},
      {"%{ %}", "1:1: embedded C needs -g"},
      {"%{ ", "1:1: the %} that ends this embedded code is missing"},
      {"probe { }", "1:9: a probe point is expected here"},
      {"probe a b { }", "1:9: a ',' or the '{' of the handler is missing here"},
      {"probe a = b, c", "1:15: a ',' or the '{' of the handler is missing here"},
      {"probe a, b = c { }", "1:12: the '{' of the handler is missing here"},
      {"probe a? = b { }", "1:7: the name of an alias has no ? or !"},
      {"probe a += b { }, { }", "1:17: an alias that is defined by += has one body"},
      {"probe {a?}.b { }", "1:8: ?, ! and conditions stand at the end of a probe point"},
      {"probe {a?}? { }", "1:11: this probe point has a ? or ! already"},
      {"probe {a if (1)} if (2) { }", "1:22: this probe point has a condition already"},
      {"probe a(b) { }", "1:9: a value is expected here"},
      {"probe a(1 { }", "1:11: a ')' is missing here"},
  };
  for (const Row& row : kRows) EXPECT_EQ(parsed(row.text), row.expected) << row.text;
}

TEST(StapParser, macros_and_conditions) {
  constexpr Row kRows[] = {
      {"@define two %( 2 %) probe begin { @two }", "probe begin { 2; }"},
      {"@define f(a) %( @a + 1 %) probe begin { @f(@f(2)) }", "probe begin { ((2 + 1) + 1); }"},
      {"@define a %( 1 %) @define f(x) %( @x + @a %) probe begin { @f(@a) }", "probe begin { (1 + 1); }"},
      {"@define f(x) %( g(@x, 1) %) probe begin { @f(h(1, 2)) }", "probe begin { g(h(1, 2), 1); }"},
      {"%( 1 == 1 %? probe a { } %: junk %)", "probe a { }"},
      {"%( 1 > 1 %? junk %( x %? y %) %: probe b { } %)", "probe b { }"},
      {"probe %( 1 < 2 && \"a\" < \"b\" || 3 <= 2 %? a %: b %) { }", "probe a { }"},
      {"probe %( 1 >= 2 || 1 == 1 && 1 == 2 %? a %: b %) { }", "probe b { }"},
      {"probe %( kernel_v >= \"6.1\" %? a %: b %) { }", "probe a { }"},
      {"probe %( kernel_v == \"6.*\" %? a %: b %) { }", "probe a { }"},
      {"probe %( kernel_vr != \"*amd64\" %? a %: b %) { }", "probe b { }"},
      {"probe %( systemtap_v > \"4.0\" %? a %: b %) { }", "probe a { }"},
      {"probe %( arch == \"x86*\" %? a %: b %) { }", "probe a { }"},
      {"probe %( runtime != \"kernel\" %? a %: b %) { }", "probe a { }"},
      {"probe %( systemtap_privilege == \"stapusr\" %? a %: b %) { }", "probe b { }"},
      {"probe %( guru_mode == 0 %? a %: b %) { }", "probe a { }"},
      {"probe %( CONFIG_SMP == \"y\" %? a %: b %) { }", "probe b { }"},
      {"probe %( $# == 3 %? a %: b %) { }", "probe a { }"},
      {"@define c(x) %( %( @x == 1 %? a %: b %) %) probe @c(1), @c(2) { }", "probe a, b { }"},
      // Errors.
      {"@define 1", "1:9: the name of the macro is expected here"},
      {"@define a", "1:10: the macro's body is expected here: %( ... %)"},
      {"@define a %( x", "1:9: the %) that ends this macro is missing"},
      {"@define a(1) %( x %)", "1:11: the name of a parameter is expected here"},
      {"@define a(b c) %( x %)", "1:13: a ',' or ')' is missing here"},
      {"@define a %( 1 %) @define a %( 2 %)", "1:27: the macro @a is there already, at a.stp:1:9"},
      {"@define define %( 1 %)", "1:9: @define cannot be defined again"},
      {"@define f(x) %( 1 %) probe begin { @f }", "1:36: the macro @f takes 1 argument in parentheses"},
      {"@define f(x) %( 1 %) probe begin { @f(1, 2) }", "1:36: the macro @f takes 1 argument, not more"},
      {"@define f(x, y) %( 1 %) probe begin { @f(1) }", "1:39: the macro @f takes 2 arguments, not less"},
      {"@define f(x) %( 1 %) probe begin { @f(1", "1:36: the ')' that ends the arguments of @f is missing"},
      {"@define a %( @a %) probe begin { @a }", "1:34: the macro @a is nested too deep"},
      {"@define a %( @define b %( 1 %) %) @a", "1:35: a macro may not define another one"},
      {"%( 1 ==", "1:1: this condition is not complete"},
      {"%( 1 == 1", "1:10: a %? is expected behind the condition"},
      {"%( 1 == 1 x", "1:11: a %? is expected behind the condition"},
      {"%( 1 == 1 %? probe a { }", "1:1: the %) that ends this condition is missing"},
      {"%( 1 == 2 %? probe a { }", "1:1: the %) that ends this condition is missing"},
      {"%)", "1:1: a %( is missing before this"},
      {"%:", "1:1: a %( is missing before this"},
      {"%?", "1:1: a %( is missing before this"},
      {"%( 1 == 1 %? probe a { } %: %: %)", "1:29: this condition has a second %:"},
      {"%( 1 + 1 %? %)", "1:6: a comparison such as == or >= is expected here"},
      {"%( 1 == \"1\" %? %)", "1:9: a number is expected here"},
      {"%( \"1\" == 1 %? %)", "1:11: a text in quotes is expected here"},
      {"%( kernel_v > \"6.*\" %? %)", "1:13: a pattern has no order: compare it by == or !="},
      {"%( arch > \"x\" %? %)", "1:9: only == and != compare these"},
      {"%( guru_mode == 2 %? %)", "1:17: guru_mode is 0 or 1"},
      {"%( CONFIG_X == x %? %)",
       "1:16: an option of the kernel is compared with a text, a number or another option"},
  };
  for (const Row& row : kRows) EXPECT_EQ(parsed(row.text), row.expected) << row.text;
  EXPECT_THAT(parsed("%( other == 1 %? %)"), HasSubstr("1:4: a condition begins with arch, kernel_v"));
}

TEST(StapParser, macros_of_the_library_do_not_see_those_of_the_script) {
  const Source library{.name = "l.stpm", .text = "@define a %( 1 %) @define b %( @a %)", .is_tapset = true};
  const auto macros = parse_macros(library, settings());
  ASSERT_TRUE(macros);
  const Source source{.name = "a.stp", .text = "@define a %( 2 %) probe begin { @a; @b }"};
  const auto file = parse(source, settings(), *macros);
  ASSERT_TRUE(file);
  EXPECT_EQ(text_of(*file), "probe begin { 2; 1; }\n");
}

TEST(StapParser, embedded_code_is_parsed_with_g_only) {
  Settings guru = settings();
  guru.is_guru = true;
  EXPECT_EQ(parsed("function f() %{ int x; %} probe begin { x = %{ 1 %} + @kderef(4, 1) }", guru),
            "function f() %{ %}\nprobe begin { (x = (%{ %} + @kderef(4, 1))); }");
  EXPECT_EQ(parsed("%{ int x; %}", guru), "1:1: blip runs no embedded C: a handler never changes the target");
}

TEST(StapParser, errors_show_the_line) {
  const Source source{.name = "a.stp", .text = "probe begin {\n  x = 1 +* 2\n}\n"};
  const auto file = parse(source, settings(), {});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message(), "a.stp:2:10: a value is expected here\n    x = 1 +* 2\n           ^");
}

TEST(StapParser, what_is_nested_too_deep_is_refused) {
  const auto repeated = [](std::string_view text, int count) {
    std::string result;
    for (int i = 0; i < count; ++i) result += text;
    return result;
  };
  for (const char* text : {"(", "!", "f(", "a[", "$a[", "a?b:"})
    EXPECT_THAT(expression(repeated(text, 10000)), HasSubstr("nested too deep")) << text;
  for (const char* text : {"{", "if (1) ", "try {", "while (1) "})
    EXPECT_THAT(statement(repeated(text, 10000)), HasSubstr("nested too deep")) << text;
  EXPECT_THAT(expression(repeated("1+", 10000) + "1"), HasSubstr("nested too deep"));
  EXPECT_THAT(parsed("probe " + repeated("{", 10000)), HasSubstr("nested too deep"));
  EXPECT_THAT(parsed("probe a." + repeated("{a,b}.", 100) + "a { }"), HasSubstr("too many probe points"));
  std::string bomb = "@define a0 %( x %)";
  for (int i = 1; i < 60; ++i)
    bomb += "@define a" + std::to_string(i) + " %( @a" + std::to_string(i - 1) + " @a" +
            std::to_string(i - 1) + " %)";
  EXPECT_THAT(parsed(bomb + "probe begin { @a59 }"), HasSubstr("macros make the script too long"));
}

}  // namespace

}  // namespace blip::stap
