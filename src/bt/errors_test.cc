// SPDX-License-Identifier: MIT
// Scripts that are wrong, and what is said.
#include "bt/parser.h"
#include "bt/test_bt.h"

namespace blip::bt {
namespace {

struct Wrong {
  const char* script;
  const char* said;
};

class Refused : public testing::TestWithParam<Wrong> {};

TEST_P(Refused, with_the_place) {
  ScriptRunner runner;
  EXPECT_THAT(runner.run(GetParam().script), testing::StartsWith(GetParam().said));
}

constexpr Wrong kSyntax[] = {
    {"", "a probe is missing: BEGIN { ... }\n"},
    {"BEGIN", "a '{' is missing here\n  BEGIN\n       ^"},
    {"BEGIN { print(1 }", "a ')' is missing here\n  BEGIN { print(1 }\n                  ^"},
    {"BEGIN { $x = }", "an expression is missing here\n  BEGIN { $x = }\n               ^"},
    {"BEGIN { print(1) print(2) }", "a ';' is missing here\n"},
    {"BEGIN { print(\"abc) }", "the text has no end: a '\"' is missing\n"},
    {"BEGIN { print(\"\\q\") }", "there is no such escape"},
    {"BEGIN { print(\"\\777\") }", "it is more than one byte"},
    {"BEGIN { print(5kg) }", "there is no unit 'kg'"},
    {"BEGIN { print(1_) }", "a number does not end with _"},
    {"BEGIN { print(99999999999999999999) }", "the number has more than 64 bits"},
    {"BEGIN { 5++ }", "++ is for variables and maps"},
    {"BEGIN { ++5 }", "++ is for variables and maps"},
    {"BEGIN { print(&5) }", "& is for variables and maps"},
    {"BEGIN { let @x; }", "a variable is missing here"},
    {"BEGIN { for (@x : 1..2) {} }", "a variable is missing here"},
    {"BEGIN { for ($x : 5) {} }", "it loops over a map, or over numbers: 0..10"},
    {"BEGIN { print($0) }", "the first parameter is $1"},
    {"BEGIN { if (1) { } else 5; }", "a '{' or an 'if' is missing here"},
    {"BEGIN { print((a = 1, a = 2)) }", "there are two members 'a'"},
    {"macro f(5) { } BEGIN {}", "a parameter is missing here"},
    {"macro f(pid) { } BEGIN {}", "'pid' has a meaning already"},
    {"let $x = 5; BEGIN {}", "outside of probes only maps are declared"},
    {"config = { x 5 } BEGIN {}", "a '=' is missing here"},
    {"BEGIN {} config = { }", "the config block comes before"},
    {"BEGIN {} struct X { int a; }", "definitions in C come before"},
    {"import \"x.bt\"; BEGIN {}", "import is not there yet"},
    {"fn f($a: int64) : int64 { return 1; } BEGIN {}", "functions of the script are not there yet"},
    {"#include <linux/sched.h>\nBEGIN {}", "headers are not read"},
    {"#define F(x) x\nBEGIN {}", "a #define with parameters is not understood"},
    {"struct X { int a BEGIN {}", "the definition has no end"},
    {"struct X { strange a; } BEGIN {}", "there is no type 'strange'"},
};
INSTANTIATE_TEST_SUITE_P(syntax, Refused, testing::ValuesIn(kSyntax));

constexpr Wrong kProbes[] = {
    {"kprobe:f { }",
     "a kernel probe: blip sees user space only; bpftrace as root can\n  kprobe:f { }\n  ^~~~~~~~"},
    {"tracepoint:a:b { }", "a kernel probe"},
    {"kfunc:f { }", "a kernel probe"},
    {"bench:f { }", "this kind of probe is not there yet"},
    {"strange:f { }", "there is no probe 'strange'"},
    {"BEGIN:x { }", "it stands alone"},
    {"interval:s { }", "it is interval:s:1"},
    {"interval:s:0 { }", "it is interval:s:1"},
    {"profile:x:9 { }", "it is profile:hz:99"},
    {"uprobe:f { }", "it is uprobe:FILE:FUNCTION"},
    {"uprobe:a:f+x { }", "the number of bytes behind the + is missing"},
    {"uretprobe:a:f+4 { }", "a return has no offset"},
    {"usdt:a { }", "it is usdt:FILE:PROVIDER:NAME"},
    {"self:signal:XYZ { }", "it is self:signal:SIGUSR1"},
};
INSTANTIATE_TEST_SUITE_P(probes, Refused, testing::ValuesIn(kProbes));

constexpr Wrong kMeaning[] = {
    {"BEGIN { print($x) }", "there is no variable $x here: it has to be set first"},
    {"BEGIN { nothing(1) }", "there is no function 'nothing'"},
    {"BEGIN { print(nothing) }", "there is no 'nothing'"},
    {"BEGIN { print(@x) }", "nothing is ever put into @x"},
    {"BEGIN { @x = 1; @x = \"a\" }", "type mismatch for @x: its values are int64, and this is string"},
    {"BEGIN { @x[1] = 1; @x[\"a\"] = 1 }", "the keys of @x are int64, and this one is string"},
    {"BEGIN { @x = 1; @x[1] = 1 }", "@x has no keys"},
    {"BEGIN { @x[1] = 1; @x = 1 }", "@x has keys: @x[...]"},
    {"BEGIN { $x = 1; $x = \"a\" }", "type mismatch for $x"},
    {"BEGIN { print(1 + \"a\") }", "+ is for numbers"},
    {"BEGIN { print(1 == \"a\") }", "int8 and string cannot be compared"},
    {"BEGIN { print(\"a\" < \"b\") }", "texts are compared with == and !="},
    {"BEGIN { print(!(1, 2)) }", "this is no condition"},
    {"BEGIN { print((1, 2).2) }", "the tuple has 2 elements"},
    {"BEGIN { print((a = 1).b) }", "the record has no member 'b'"},
    {"BEGIN { print(1 ? 2 : \"a\") }", "both sides must have one type"},
    {"BEGIN { printf(\"%d\") }", "not enough arguments for the format: it wants 1, and here are 0"},
    {"BEGIN { printf(\"\", 1) }", "too many arguments for the format"},
    {"BEGIN { printf(\"%d\", \"a\") }", "%d does not show string"},
    {"BEGIN { printf(1) }", "printf() wants a format in quotes"},
    {"BEGIN { break; }", "break is only in loops"},
    {"BEGIN { print(arg0) }", "this probe has no arguments"},
    {"BEGIN { print(retval) }", "retval is only at uretprobe"},
    {"BEGIN { print(args.x) }", "args are those of a function: this probe has none"},
    {"BEGIN { print(kstack) }", "kstack is the kernel's"},
    {"BEGIN { signal(9) }", "signal is refused: handlers never change the target"},
    {"BEGIN { print(count()) }", "count() is only assigned to a map"},
    {"BEGIN { @ = count(1) }", "count() wants 0 arguments"},
    {"BEGIN { @ = lhist(1, 10, 0, 1) }", "lhist() wants (number, low, high, step)"},
    {"BEGIN { @ = hist(1, 9) }", "the number of bits is from 0 to 5"},
    {"BEGIN { @ = hist(1); print((int64)@) }", "@ has hist_t, which can only be printed"},
    {"BEGIN { strlen(1) }", "strlen() wants a text"},
    {"BEGIN { unroll(1000) { } }", "unroll wants a number from 1 to 100"},
    {"BEGIN { print(reg(\"xyz\")) }", "there is no register 'xyz'"},
    {"uprobe:./t:f { print(args.nothing) }", "there is no variable 'nothing' here"},
    {"uprobe:./t:f { $r = (struct request *)arg0; print($r->nothing) }",
     "struct request has no member 'nothing'"},
    {"uprobe:./t:f { print(*(int32 *)@p); @p = arg0 }", "this address is known only to blip, after the hit"},
    {"macro f(x) { x } BEGIN { f(1, 2) }", "macro 'f' has 1 parameters, and here are 2 arguments"},
    {"macro f(@x) { 1 } BEGIN { f(1) }", "macro 'f' wants a map here"},
    {"macro f() { f() } BEGIN { f() }", "macros are nested too deep"},
    {"config = { strange = 1 } BEGIN {}", "there is no setting 'strange'"},
    {"config = { max_strlen = x } BEGIN {}", "the value of 'max_strlen' is a number"},
    {"let @x = strange(5); BEGIN {}", "there is no kind of map 'strange'"},
    {"BEGIN { static_assert(1 == 2, \"wrong here\") }", "wrong here"},
    {"struct X { int a; } struct X { int a; } BEGIN {}", "'struct X' is defined twice"},
    {"BEGIN { print(sizeof(struct Y)) }", "there is no type 'struct Y'"},
};
INSTANTIATE_TEST_SUITE_P(meaning, Refused, testing::ValuesIn(kMeaning));

TEST(Parser, hostile_nesting_ends) {
  EXPECT_FALSE(parse_tree("BEGIN { print(" + std::string(100000, '(') + ") }"));
  EXPECT_FALSE(parse_tree("BEGIN " + std::string(100000, '{')));
  EXPECT_FALSE(parse_tree("BEGIN { $x = " + std::string(100000, '-') + "1 }"));
  EXPECT_TRUE(parse_tree("BEGIN { print(((((1))))) }"));
}

TEST(Parser, accepts) {
  for (const char* script : {
           "#!/usr/bin/env bpftrace\nBEGIN {}",
           "// a\n/* b */ BEGIN { /* c */ }",
           "uprobe:/a/b:c /arg0 > 1/ { }",
           "uprobe:/a/b:c,\nuretprobe:/a/b:d, { }",
           "uprobe:\"/a b/c\":\"f(int, char)\" { }",
           "uprobe:/a:cpp:\"ns::f(int)\" { }",
           "usdt:/a:b:c { } usdt:/a:c { }",
           "i:s:1 { } interval:1s { } p:hz:99 { } profile:ms:1 { }",
           "self:signal:SIGUSR1 { }",
           "BEGIN { @x[1, \"a\"]++; @[pid] = count() }",
           "BEGIN { $a = (int32)5; $b = (uint8 *)arg0; $c = (struct x *)arg0 }",
           "BEGIN { $x->y.z[1]->w }",
           "BEGIN { for $i : 0..5 { } while (1) { break; } unroll 3 { } }",
           "BEGIN { if 1 { } else if (2) { } else { } }",
           "BEGIN { let $x : struct task *; let $y: string = \"a\"; }",
           "BEGIN { print(sizeof(struct x)); print(offsetof(struct x, a.b)); }",
       })
    EXPECT_TRUE(parse_tree(script)) << script << "\n" << parse_tree(script).error().message();
}

}  // namespace
}  // namespace blip::bt
