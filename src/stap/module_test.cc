// SPDX-License-Identifier: MIT
// What is right and wrong with a script as a whole: names, types, probe points, aliases.
#include "stap/module.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stap/tree_text.h"

namespace blip::stap {

namespace {

using script::WantedProbe;

Result<std::unique_ptr<Module>> build(const std::string& text, Settings settings = {}) {
  return build_module({.name = "a.stp", .text = text}, std::move(settings));
}

// The first line of what is wrong; "" if nothing is.
std::string wrong_with(const std::string& text, Settings settings = {}) {
  const auto module = build(text, std::move(settings));
  if (module) return "";
  const std::string& message = module.error().message();
  const std::string line = message.substr(0, message.find('\n'));
  return line.starts_with("a.stp:") ? line.substr(6) : line;
}

struct Row {
  const char* text;
  const char* expected;
};

TEST(StapModule, scripts_that_are_right) {
  constexpr const char* kTexts[] = {
      "global foo function total(p, n) { return (foo[p] += n) } probe process.function(\"foo\") { t = "
      "total(pid(), $var->member) "
      "if (t > 1000) printf(\"%s(%d) total %d\\n\", execname(), pid(), t) }",
      "probe begin { a = 1; b = \"x\"; println(a, b) }",
      "global a; probe begin { a[1, \"x\"] <<< 3; foreach ([i, s] in a @count-) println(i, s, @sum(a[i, s])) "
      "}",
      "global a; probe begin { a[1] = \"x\"; if (1 in a) delete a[1]; delete a }",
      "global h; probe begin { h <<< 1; print(@hist_log(h)); print(@hist_log(h)[0]); println(@count(h)) }",
      "function f(n) { return n ? n * f(n - 1) : 1 } probe begin { println(f(5)) }",
      "function f(a) { next } function f(a) : 2 { return a } probe begin { println(f(5)) }",
      "function f() { return 1 } function f(a) { return a } probe begin { println(f(), f(\"x\")) }",
      "probe begin { try { error(\"x\") } catch (m) { println(m) } }",
      "probe process.function(\"f\").return { println($return, @entry($n), $n, $$parms, $p$, @defined($q) ? "
      "1 : 2) }",
      "probe process.function(\"f\") { println(@choose_defined($a, 3), @cast($p, \"struct s\")->m, &$p->m, "
      "@var(\"g\")) }",
      "probe a = process.function(\"f\") { x = $n } probe a { println(x) }",
      "probe begin { println(\"abc\" =~ \"b+\" ? matched(0) : \"\") }",
      "global a%[5], b = 3 probe begin { a[1] = b }",
      "function unused(a, b) { return a + b } probe begin { exit() }",
      "probe begin { if (NULL == 0) log(ctime(gettimeofday_s())) }",
      "private global x = 1 private function p() { return x } probe begin { println(p()) }",
      "probe begin { println(@defined($x)) }",
      "global x probe timer.s(1) if (x > 3) { x++ }",
      "probe begin { println(tokenize(\"a b\", \" \"), thread_indent(1), cmdline_str(), isdigit(\"1\")) }",
      "probe process.function(\"f\") { print_ubacktrace(); println(user_string($p), user_long($p + 8), "
      "int_arg(1)) }",
  };
  for (const char* text : kTexts) EXPECT_EQ(wrong_with(text), "") << text;
}

TEST(StapModule, scripts_that_are_wrong) {
  constexpr Row kRows[] = {
      {"global a", "the script has no probe"},
      {"probe begin { exti() }", nullptr},
      {"probe begin { strlen() }", "1:15: strlen() takes 1 argument, not 0"},
      {"function f(a, b) { } probe begin { f(1) }", "1:36: f() takes 2 arguments, not 1"},
      {"function f() { } function f() { } probe begin { f() }",
       "1:27: the function f() is there already, at a.stp:1:10"},
      {"probe begin { a[1] = 2 }", "1:15: there is no array a: arrays are globals, which 'global a' makes"},
      {"probe begin { a[1] = 2; a = 3 }",
       "1:15: there is no array a: arrays are globals, which 'global a' makes"},
      {"global a probe begin { a[1] = 2; a[1, 2] = 3 }",
       "1:34: a is an array with 2 indexes here, and an array with 1 index elsewhere"},
      {"global a probe begin { a[1] = 2; println(a) }", "1:42: a is an array: an element of it is a[...]"},
      {"global a = 1 probe begin { a[1] = 2 }",
       "1:28: a is an array with 1 index here, and no array elsewhere"},
      {"global a[5] probe begin { a = 2 }", "1:27: a is declared as an array, with [...]"},
      {"global a% probe begin { a = 2 }", "1:8: a is no array: a % has no meaning"},
      {"global a probe begin { a[1,2,3,4,5,6,7,8,9,10] = 2 }", "1:24: an array has at most 9 indexes"},
      {"probe begin { foreach (k in a) k++ }",
       "1:29: there is no array a: arrays are globals, which 'global a' makes"},
      {"global a probe begin { foreach ([i, j] in a[1]) i++ }",
       "1:43: the array a has 2 indexes, the slice has 1"},
      {"global a probe begin { foreach (k in a) a[k]++ }",
       "1:38: a is changed while 'foreach' goes through it"},
      {"global a function f() { delete a } probe begin { foreach (k in a) f() }",
       "1:64: a is changed while 'foreach' goes through it"},
      {"global a probe begin { a[*] = 1 }", "1:24: a * stands for all keys: only delete and in take it"},
      {"probe begin { delete 1 }", "1:22: only a variable, an array or an element of one is deleted"},
      {"probe begin { delete a }", "1:22: there is no array a to delete"},
      {"probe begin { 1 = 2 }", "1:17: only a variable or an element of an array is set"},
      {"probe begin { f()++ }", nullptr},
      {"probe begin { break }", "1:15: 'break' stands in a loop only"},
      {"probe begin { if (1) continue }", "1:22: 'continue' stands in a loop only"},
      {"probe process.function(\"f\") { $x = 1 }", "1:31: a handler never changes the target"},
      {"probe process.function(\"f\") { $x->y++ }", "1:31: a handler never changes the target"},
      {"probe begin { println($x) }", "1:23: $x has no meaning here: the probe is at no place of a program"},
      {"function f() { return $x } probe begin { f() }",
       "1:23: $x has no meaning in a function: a handler passes the value to it"},
      {"probe process.function(\"f\") { println(@entry($x)) }",
       "1:39: @entry() has a meaning in .return probes only"},
      {"probe begin { \"a\" =~ \"[b\" }",
       "1:22: this regular expression is not valid: Unmatched [, [^, [:, [., or [="},
      {"probe begin { a <<< 1 }", "1:15: stats are globals, which 'global a' makes"},
      {"probe begin { println(@count(1)) }", "1:23: @count is taken of a global, or an element of an array"},
      {"global h probe begin { h <<< 1; print(@hist_linear(h, 0, 10, 0)) }",
       "1:39: the step of a histogram is 1 or more"},
      {"global h probe begin { h <<< 1; print(@hist_linear(h, 10, 0, 1)) }",
       "1:39: the upper end of a histogram is above the lower one"},
      // Types.
      {"probe begin { println(1 + \"x\") }", "1:27: a long is expected here, and this is a string"},
      {"probe begin { println(\"x\" . 1) }", "1:29: a string is expected here, and this is a long"},
      {"probe begin { a = 1; a = \"x\" }", "1:26: a long is expected here, and this is a string"},
      {"probe begin { println(1 == \"x\") }", "1:28: a long is expected here, and this is a string"},
      {"probe begin { println(1 ? 2 : \"x\") }", "1:31: a long is expected here, and this is a string"},
      {"probe begin { if (\"x\") next }", "1:19: a long is expected here, and this is a string"},
      {"probe begin { println(strlen(3)) }", "1:30: a string is expected here, and this is a long"},
      {"global a probe begin { a[1] = 2; a[\"x\"] = 3 }",
       "1:36: a long is expected here, and this is a string"},
      {"global s probe begin { s <<< \"x\" }", "1:30: a long is expected here, and this is a string"},
      {"global s probe begin { s <<< 1; s = 2 }", "1:33: s has stats, to which <<< adds: it is not set"},
      {"global s probe begin { s <<< 1; println(s) }",
       "1:41: stats are printed by @count, @sum, @hist_log and the like"},
      {"global s, a probe begin { s <<< 1; a[s] = 1 }", "1:38: stats are no index"},
      {"function f(x) { } global s probe begin { s <<< 1; f(s) }",
       "1:53: stats are no argument of a function"},
      {"global s probe begin { s[1] <<< 1; foreach (v = k in s) println(v) }",
       "1:45: s has stats, which are no value: @count(s[...]) is one"},
      {"global a probe begin { a[1] = 1; foreach (k in a @sum-) println(k) }", nullptr},
      {"global a probe begin { println(a) }", "1:32: nothing tells whether a is a number or a text"},
      {"function f() { } probe begin { println(f()) }", "1:40: f() returns nothing"},
      {"probe begin { x = exit() }", nullptr},
      {"function f:string() { return 1 } probe begin { f() }",
       "1:30: a string is expected here, and this is a long"},
      {"probe begin { printf(\"%d\", \"x\") }", "1:28: a long is expected here, and this is a string"},
      {"probe begin { printf(\"%s\", 1) }", "1:28: a string is expected here, and this is a long"},
      {"probe begin { printf(\"%d %d\", 1) }", "1:15: the format takes 2 values, and 1 is given"},
      {"probe begin { printf(\"%*d\", 1) }", "1:15: the format takes 2 values, and 1 is given"},
      {"probe begin { print_char(\"x\") }", "1:26: a long is expected here, and this is a string"},
      // Conditions of probes.
      {"global x probe timer.s(1) if (x++) { }", "1:32: the condition of a probe changes nothing"},
      {"probe timer.s(1) if (x) { }", "1:22: the condition of a probe looks at globals only"},
      {"probe timer.s(1) if (pid()) { }", "1:22: the condition of a probe calls no function"},
  };
  for (const Row& row : kRows)
    if (row.expected != nullptr) {
      EXPECT_EQ(wrong_with(row.text), row.expected) << row.text;
    } else {
      EXPECT_NE(wrong_with(row.text), "") << row.text;
    }
  EXPECT_THAT(wrong_with("probe begin { exti() }"),
              testing::HasSubstr("1:15: there is no function exti(); there are "));
}

// What is asked of the session, one line for each probe.
std::string wanted(const std::string& point) {
  const auto module = build("probe " + point + " { }");
  if (!module) return wrong_with("probe " + point + " { }");
  constexpr const char* kKinds[] = {"begin",      "end",      "error",         "never",       "timer",
                                    "profile",    "signal",   "process-begin", "process-end", "thread-begin",
                                    "thread-end", "function", "return",        "instruction", "line",
                                    "mark",       "label"};
  std::string result;
  for (const Handler& h : (*module)->handlers) {
    const WantedProbe& w = h.wanted;
    result += result.empty() ? "" : ", ";
    result += kKinds[static_cast<size_t>(w.kind)];
    if (!w.module.empty()) result += " in " + w.module;
    if (!w.name.empty()) result += " " + w.name;
    if (!w.label.empty()) result += " label " + w.label;
    if (!w.file.empty()) result += " of " + w.file;
    if (w.line != 0) result += fmt::format(":{}", w.line);
    if (w.offset) result += fmt::format(" +{}", *w.offset);
    if (w.period.count() != 0) result += fmt::format(" {}", w.period.count());
    if (w.number != 0) result += fmt::format(" pid {}", w.number);
    if (w.copies == WantedProbe::Copies::kOnlyInlined) result += " inlined";
    if (w.copies == WantedProbe::Copies::kNotInlined) result += " called";
    if (w.may_be_missing) result += " ?";
    if (w.instead_of) result += fmt::format(" instead of {}", *w.instead_of);
  }
  return result;
}

TEST(StapModule, probe_points) {
  constexpr Row kRows[] = {
      {"begin", "begin"},
      {"begin(3)", "begin"},
      {"end", "end"},
      {"error", "error"},
      {"never", "never"},
      {"oneshot", "begin"},
      {"timer.s(2)", "timer 2000000000"},
      {"timer.ms(5).randomize(2)", "timer 5000000"},
      {"timer.us(100)", "timer 100000"},
      {"timer.nsec(7)", "timer 7"},
      {"timer.hz(100)", "timer 10000000"},
      {"timer.jiffies(5)", "timer 20000000"},
      {"timer.profile", "profile 4000000"},
      {"timer.profile.tick", "profile 4000000"},
      {"perf.sw.cpu_clock", "profile 1000000"},
      {"perf.sw.cpu_clock.sample(500000)", "profile 500000"},
      {"perf.sw.cpu_clock.hz(100)", "profile 10000000"},
      {"process.begin", "process-begin"},
      {"process(\"a\").end", "process-end in a"},
      {"process(12).begin", "process-begin pid 12"},
      {"process.thread.begin, process.thread.end", "thread-begin, thread-end"},
      {"process(\"a\").function(\"f*\")", "function in a f*"},
      {"process.function(\"f\").call", "function f called"},
      {"process.function(\"f\").inline", "function f inlined"},
      {"process.function(\"f\").return", "return f called"},
      {"process.function(\"f\").exported.return.maxactive(3)", "return f called"},
      {"process.function(\"f@a.c\")", "function f of a.c"},
      {"process.function(\"f@a.c:12\")", "line f of a.c:12"},
      {"process.function(0x10)", "instruction +16"},
      {"process.statement(\"f@a.c:12\").nearest", "line f of a.c:12"},
      {"process.statement(0x10).absolute", "instruction +16"},
      {"process.function(\"f\").label(\"l\")", "label f label l"},
      {"process(\"a\").mark(\"m\")", "mark in a *:m"},
      {"process(\"a\").provider(\"p\").mark(\"m\")", "mark in a p:m"},
      {"process(\"a\").library(\"l\").function(\"f\")", "function in l f"},
      {"process.library(\"l\").mark(\"m\")", "mark in l *:m"},
      {"process.plt(\"f\").return", "return f@plt"},
      {"process.function(\"f\")?", "function f ?"},
      {"process.function(\"f\")!, process.function(\"g\")", "function f ?, function g instead of 0"},
      // Errors.
      {"foo", "1:7: there is no such probe: foo"},
      {"foo*", "1:7: no probe point matches this"},
      {"begin(\"x\")", "1:7: begin takes a number, or nothing"},
      {"begin.x", "1:13: there is no such probe: .x has no meaning here"},
      {"timer", "1:7: timer.s(N), timer.ms(N), timer.us(N), timer.hz(N) or timer.profile is expected here"},
      {"timer.s(0)", "1:13: this time is not valid"},
      {"timer.x(1)", "1:13: there is no timer.x"},
      {"timer.ms(1).randomize(2)", "1:19: a timer varies by no more than its period"},
      {"timer.hz(1).randomize(2)", "1:19: there is no such probe: .randomize has no meaning here"},
      {"process", "1:7: process(...) is followed by .function(\"...\"), .mark(\"...\"), .begin and the like"},
      {"process.function(\"f@a.c:1-3\")",
       "1:15: a place is \"FUNCTION\", \"FUNCTION@FILE\" or \"FUNCTION@FILE:LINE\" with one line"},
      {"process.syscall", "1:15: process.syscall probes are not supported yet: probe the functions of libc"},
      {"process.x", "1:15: there is no such probe: .x has no meaning here"},
      {"kernel.function(\"x\")", "1:7: kernel: a kernel probe: blip sees user space only, stap as root can"},
      {"syscall.open", "1:7: syscall: a kernel probe: blip sees user space only, stap as root can"},
      {"procfs(\"x\").read", "1:7: procfs: procfs probes are not supported yet"},
      {"perf.hw.cycles", "1:7: perf: of its events blip has perf.sw.cpu_clock"},
  };
  for (const Row& row : kRows) EXPECT_EQ(wanted(row.text), row.expected) << row.text;
}

// The bodies of the first probe, one after the other, and the name of it.
std::string expanded(const std::string& text) {
  const auto module = build(text);
  if (!module) return wrong_with(text);
  std::string result;
  for (const Handler& h : (*module)->handlers) {
    result += (result.empty() ? "" : "; ") + h.name + " = " + text_of(h.point);
    for (const StatementPtr& body : h.bodies) result += " " + text_of(*body);
  }
  return result;
}

TEST(StapModule, aliases) {
  constexpr Row kRows[] = {
      {"probe a = begin { x = 1 } probe a { y = 2 }", "a = begin { (x = 1); } { (y = 2); }"},
      {"probe a += begin { x = 1 } probe a { y = 2 }", "a = begin { (y = 2); } { (x = 1); }"},
      {"probe a = begin { x = 1 }, { z = 3 } probe a { y = 2 }",
       "a = begin { (x = 1); } { (y = 2); } { (z = 3); }"},
      {"probe a = b { x = 1 } probe b = begin { y = 2 } probe a { z = 3 }",
       "a = begin { (y = 2); } { (x = 1); } { (z = 3); }"},
      {"probe a += b { x = 1 } probe b += begin { y = 2 } probe a { z = 3 }",
       "a = begin { (z = 3); } { (x = 1); } { (y = 2); }"},
      {"probe a = begin, end { x = 1 } probe a { }", "a = begin { (x = 1); } { }; a = end { (x = 1); } { }"},
      {"probe a.b = process(\"p\") { } probe a.b.function(\"f\") { }",
       "a.b.function(\"f\") = process(\"p\").function(\"f\") { } { }"},
      {"probe a1 = begin { } probe a2 = end { } probe a* { }", "a* = begin { } { }; a* = end { } { }"},
      {"probe a(1) = begin { } probe a(1) { }", "a(1) = begin { } { }"},
      {"probe begin(2) { x = 1 } probe begin { x = 2 } probe begin(-1) { x = 3 }",
       "begin(-1) = begin(-1) { (x = 3); }; begin = begin { (x = 2); }; begin(2) = begin(2) { (x = 1); }"},
      {"probe a = foo?, begin { } probe a { }", "a = begin { } { }"},
      {"probe begin, foo ? { }", "begin = begin { }"},
      // Errors.
      {"probe a = b { } probe b = a { } probe a { }",
       "1:39: the aliases of this probe point name each other without an end"},
      {"probe a(1) = begin { } probe a(2) { }", "1:30: there is no such probe: a(2)"},
      {"probe a = foo { } probe a { }", "1:11: there is no such probe: foo"},
  };
  for (const Row& row : kRows) EXPECT_EQ(expanded(row.text), row.expected) << row.text;
}

TEST(StapModule, globals_of_the_command_line) {
  const auto module = build("global a, b = \"x\", c = 3 probe begin { println(a, b, c) }",
                            {.globals = {{"a", "7"}, {"b", "8"}}});
  ASSERT_TRUE(module) << module.error().message();
  EXPECT_EQ((*module)->globals.at("a")->init->number, 7u);
  EXPECT_EQ((*module)->globals.at("b")->init->text, "8");
  EXPECT_EQ(wrong_with("probe begin { }", {.globals = {{"x", "1"}}}),
            "-G x: the script has no global of that name");
}

}  // namespace

}  // namespace blip::stap
