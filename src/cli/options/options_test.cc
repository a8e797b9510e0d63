// SPDX-License-Identifier: MIT
#include "cli/options/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/help/help.h"
#include "cli/options/contexts.h"
#include "cli/options/shell_words.h"
#include "cli/options/suggest.h"

namespace blip::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

Command parse(const std::string& line) {
  auto command = parse_command(words(line));
  EXPECT_TRUE(command) << line << ": " << (command ? "" : command.error().message());
  return command ? *command : Command();
}

std::vector<std::string> names(const std::vector<session::Context>& contexts) {
  std::vector<std::string> out;
  for (const auto& c : contexts)
    out.push_back(c.row == &session::contexts::kRegister ? c.register_name : std::string(c.row->words[0]));
  return out;
}

TEST(Options, defaults) {
  const Command c = parse("record --function work -p 4711");
  EXPECT_EQ(c.verb, Verb::kRecord);
  EXPECT_EQ(c.session.mode, session::Mode::kRecord);
  EXPECT_THAT(c.session.pids, ElementsAre(4711));
  ASSERT_EQ(c.session.probes.size(), 1U);
  EXPECT_EQ(c.session.probes[0].spec.name, "work");
  EXPECT_TRUE(c.session.probes[0].contexts.empty());
  EXPECT_EQ(c.session.output_dir, "");
  EXPECT_FALSE(c.session.duration || c.session.max_events || c.session.verbose || c.quiet || c.json);
  EXPECT_EQ(c.session.subbuf_count, 4U);
  EXPECT_EQ(c.session.subbuf_size, 1U << 20);
  EXPECT_EQ(c.session.max_probes, 20000U);
  EXPECT_EQ(c.color, ColorChoice::kAuto);
}

TEST(Options, probes_of_all_kinds_and_their_contexts) {
  using session::ProbeKind;
  const Command c = parse(
      "trace -p 1 --context tid --probe f+0x10 --context reg:rax --line src/a.c:12 --every-instruction g* "
      "--context cpu --function h --probe 0x1000 --probe main");
  const auto& probes = c.session.probes;
  ASSERT_EQ(probes.size(), 6U);
  EXPECT_TRUE(probes[0].kind == ProbeKind::kInstruction && probes[1].kind == ProbeKind::kLine);
  EXPECT_TRUE(probes[2].kind == ProbeKind::kEveryInstruction && probes[3].kind == ProbeKind::kFunction);
  EXPECT_EQ(probes[0].spec.offset, 16U);
  EXPECT_EQ(probes[0].contexts.size(), 2U);
  EXPECT_EQ(probes[1].contexts.size(), 1U);
  EXPECT_EQ(probes[1].spec.name, "src/a.c");
  EXPECT_EQ(probes[1].spec.text, "src/a.c:12");
  EXPECT_EQ(probes[1].line, 12U);
  EXPECT_EQ(probes[2].spec.kind, elf::SpecKind::kGlob);
  EXPECT_EQ(probes[4].spec.kind, elf::SpecKind::kAddress);
  EXPECT_EQ(probes[5].spec.kind, elf::SpecKind::kName);
  EXPECT_TRUE(parse("list f --coverage").coverage);
}

TEST(Options, everything_at_once) {
  const Command c = parse(
      "record --function=a --function lib:b -o DIR --duration 500ms --max-events 9 --num-subbuf 8 "
      "--subbuf-size 64k --max-probes 30000 --color=never -v --pid=1");
  EXPECT_EQ(c.session.probes.size(), 2U);
  EXPECT_EQ(c.session.probes[1].spec.module, "lib");
  EXPECT_EQ(c.session.output_dir, "DIR");
  EXPECT_EQ(c.session.duration, std::chrono::milliseconds(500));
  EXPECT_EQ(c.session.max_events, 9U);
  EXPECT_EQ(c.session.subbuf_count, 8U);
  EXPECT_EQ(c.session.subbuf_size, 65536U);
  EXPECT_EQ(c.session.max_probes, 30000U);
  EXPECT_EQ(c.color, ColorChoice::kNever);
  EXPECT_TRUE(c.session.verbose);
  EXPECT_THAT(c.session.pids, ElementsAre(1));
}

TEST(Options, every_spelling_of_the_pid) {
  for (const char* line : {"-p 12", "-p12", "-x 12", "-x12", "--pid 12", "--pid=12", "-vp12", "-qp 12"})
    EXPECT_THAT(parse(std::string("count --function f ") + line).session.pids, ElementsAre(12)) << line;
}

TEST(Options, targets) {
  EXPECT_THAT(parse("count --function f -p 1 -p 2 -x 1").session.pids, ElementsAre(1, 2));
  EXPECT_EQ(parse("count --function f -n nginx").session.process_name, "nginx");
  EXPECT_FALSE(parse("count --function f -n nginx").session.wait_for_processes);
  EXPECT_TRUE(parse("count --function f -n nginx --wait").session.wait_for_processes);
  EXPECT_THAT(parse("count --function f -c ls").session.command, ElementsAre("ls"));
  EXPECT_THAT(parse("count --function f -- ls -l -p 1 --").session.command,
              ElementsAre("ls", "-l", "-p", "1", "--"));
  EXPECT_TRUE(parse("count --function f -p 1").session.follow_fork);
  EXPECT_FALSE(parse("count --function f -p 1 --no-follow-fork").session.follow_fork);
}

TEST(Options, list) {
  const Command process = parse("list -p 12 parse_* --json -v");
  EXPECT_THAT(process.session.pids, ElementsAre(12));
  EXPECT_EQ(process.list_glob, "parse_*");
  EXPECT_TRUE(process.json && process.session.verbose && process.list_file.empty());
  const Command file = parse("list /bin/x *y*");
  EXPECT_EQ(file.list_file, "/bin/x");
  EXPECT_EQ(file.list_glob, "*y*");
  EXPECT_EQ(parse("list -- -x").list_file, "-x");
}

TEST(Options, modes) {
  EXPECT_EQ(parse("trace --function f -p 1 --json").session.mode, session::Mode::kTrace);
  EXPECT_EQ(parse("count --function f -p 1 --json").session.mode, session::Mode::kCount);
  EXPECT_TRUE(parse("trace --function f -p 1 --json").json);
}

TEST(Options, latencies_are_those_of_calls) {
  const Command c = parse("count --latency --function a --return b -p 1 --clock monotonic");
  EXPECT_TRUE(c.session.latencies);
  EXPECT_EQ(c.session.clock, session::ClockChoice::kMonotonic);
  for (const session::ProbeRequest& probe : c.session.probes)
    EXPECT_EQ(probe.kind, session::ProbeKind::kReturn) << probe.spec.name;
  EXPECT_FALSE(parse("count --function a -p 1").session.latencies);
  EXPECT_EQ(parse("count --function a -p 1").session.probes[0].kind, session::ProbeKind::kFunction);
}

TEST(Options, a_context_belongs_to_the_probe_before_it) {
  const Command c =
      parse("trace --function a --context reg:rdi --function b --context reg:rsi,reg:rdx --function c -p 1");
  EXPECT_THAT(names(c.session.probes[0].contexts), ElementsAre("rdi"));
  EXPECT_THAT(names(c.session.probes[1].contexts), ElementsAre("rsi", "rdx"));
  EXPECT_TRUE(c.session.probes[2].contexts.empty());
}

TEST(Options, help_of_a_verb) {
  EXPECT_TRUE(parse("help").help);
  const Command c = parse("help record");
  EXPECT_TRUE(c.help);
  EXPECT_EQ(c.verb, Verb::kRecord);
  for (const char* wrong : {"help recrod", "help record x", "help --nix", "help --all x"})
    EXPECT_FALSE(parse_command(words(wrong))) << wrong;
}

// The table of the manual: topics.cc.
TEST(Options, what_only_the_last_of_several_probes_has) {
  struct Row {
    const char* words;
    std::vector<std::string> contexts[2];
    bool args[2];
    size_t remarks;
  };
  const Row rows[] = {
      {"--context reg:rdi --args --function a --function b", {{"rdi"}, {"rdi"}}, {true, true}, 0},
      {"--function a --context reg:rdi --args --function b", {{"rdi"}, {}}, {true, false}, 0},
      {"--function a --function b --context reg:rdi", {{"rdi"}, {"rdi"}}, {false, false}, 1},
      {"--function a --function b --context reg:rdi --args", {{"rdi"}, {"rdi"}}, {true, true}, 2},
      {"--function a --args --function b --context reg:rdi", {{"rdi"}, {"rdi"}}, {true, false}, 1},
      {"--function a --context reg:rsi --function b --context reg:rdi",
       {{"rsi"}, {"rdi"}},
       {false, false},
       0},
      {"--context reg:rsi --function a --function b --context reg:rdi",
       {{"rsi"}, {"rsi", "rdi"}},
       {false, false},
       0},
      {"--function a --function b --context reg:rdi,backtrace",
       {{"rdi"}, {"rdi", "backtrace"}},
       {false, false},
       1},
      {"--function a --function b --context backtrace", {{}, {"backtrace"}}, {false, false}, 0},
      {"--every-instruction a --function b --args", {{}, {}}, {false, true}, 0},
      {"--function a --function b --filter n>5", {{}, {}}, {false, false}, 1},
      {"--function a --function b --capture n", {{}, {}}, {false, false}, 1},
      {"--function a --filter n>5 --function b --filter n>6", {{}, {}}, {false, false}, 0},
  };
  for (const Row& row : rows) {
    const Command c = parse(std::string("trace -p 1 ") + row.words);
    ASSERT_EQ(c.session.probes.size(), 2U) << row.words;
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(names(c.session.probes[i].contexts), row.contexts[i]) << row.words;
      EXPECT_EQ(c.session.probes[i].data.args, row.args[i]) << row.words;
    }
    EXPECT_EQ(c.remarks.size(), row.remarks) << row.words;
  }
}

TEST(Options, filters_and_captures_stay_with_the_last_probe) {
  const Command c =
      parse("trace -p 1 --function a --function b --filter n>5 --capture n --locals --return c");
  EXPECT_EQ(c.session.probes[0].data.condition, "");
  EXPECT_EQ(c.session.probes[1].data.condition, "n>5");
  EXPECT_TRUE(c.session.probes[1].data.locals);
  EXPECT_FALSE(c.session.probes[2].data.locals);
  EXPECT_TRUE(c.remarks.empty());
}

TEST(Options, a_context_before_the_first_probe_belongs_to_all) {
  const Command c = parse("trace --context reg:rdi -p 1 --function a --function b --context reg:rsi,reg:rdi");
  EXPECT_THAT(names(c.session.probes[0].contexts), ElementsAre("rdi"));
  EXPECT_THAT(names(c.session.probes[1].contexts), ElementsAre("rdi", "rsi"));
}

TEST(Options, the_pid_between_probes_does_not_matter) {
  const Command c = parse("trace --function a -p 1 --context reg:RDI");
  EXPECT_THAT(names(c.session.probes[0].contexts), ElementsAre("rdi"));
}

TEST(Options, command_line_is_kept_and_quoted) {
  const auto c = parse_command({"record", "--function", "a*", "-p", "1", "-o", "it's here"});
  ASSERT_TRUE(c);
  EXPECT_EQ(c->session.command_line, R"(blip record --function 'a*' -p 1 -o 'it'\''s here')");
}

TEST(Options, view) {
  EXPECT_EQ(parse("view").view_dir, "");
  EXPECT_EQ(parse("view DIR --color always").view_dir, "DIR");
  EXPECT_EQ(parse("view -- -odd").view_dir, "-odd");
}

TEST(Options, data_belongs_to_the_probe_before_it) {
  const auto probes = parse(
                          "trace --capture a --args --function f --locals --capture b,c --function g -p 1 "
                          "--filter n>1")
                          .session.probes;
  ASSERT_EQ(probes.size(), 2U);
  EXPECT_TRUE(probes[0].data.args && probes[1].data.args);
  EXPECT_TRUE(probes[0].data.locals);
  EXPECT_FALSE(probes[1].data.locals);
  EXPECT_THAT(probes[0].data.captures, ElementsAre("a", "b,c"));
  EXPECT_THAT(probes[1].data.captures, ElementsAre("a"));
  EXPECT_EQ(probes[0].data.condition, "");
  EXPECT_EQ(probes[1].data.condition, "n>1");
}

TEST(Options, filter_before_the_first_probe) {
  const auto returns = parse("trace --filter ret==1 --function f --return g -p 1").session.probes;
  EXPECT_EQ(returns[0].data.condition, "");
  EXPECT_EQ(returns[1].data.condition, "ret==1");
  EXPECT_EQ(parse("trace --filter depth>1 --function f -p 1").session.probes[0].data.condition, "depth>1")
      << "it may be a variable";
  const auto hits = parse("trace --filter n==1 --function f --function g --filter m -p 1").session.probes;
  EXPECT_EQ(hits[0].data.condition, "n==1");
  EXPECT_EQ(hits[1].data.condition, "m");
}

TEST(Options, help_and_version) {
  EXPECT_TRUE(parse("--help").help);
  EXPECT_TRUE(parse("-h").help);
  EXPECT_TRUE(parse("--version").version);
  EXPECT_TRUE(parse("-V").version);
  EXPECT_TRUE(parse("trace --help").help);
  EXPECT_TRUE(parse("record --function f -h").help);
}

TEST(Options, wrong_usage_says_what_to_do) {
  const struct {
    const char *line, *message;
  } kCases[] = {
      {"", "say what to do"},
      {"clean", "say what to clean: -p PID, or --all"},
      {"clean -p 1 --all", "-p and --all exclude each other"},
      {"clean --all --save d", "--save needs one process"},
      {"clean 1", "unexpected '1': name a process with -p PID"},
      {"clean -p 1 --function f", "--function is not an option of blip clean"},
      {"recrod", "unknown verb 'recrod': did you mean record?"},
      {"-p 1", "say first what to do"},
      {"trace -p 1", "no probe given"},
      {"trace -p 1 --context tid", "no probe given"},
      {"trace --function f", "no target given: name a process with -p PID"},
      {"trace --function f -p", "-p needs a value: -p PID"},
      {"trace --function f -p x", "-p: 'x' is not a number"},
      {"trace --function f -p 0", "-p: 0 is too small"},
      {"trace --function f -p 4294967297", "too large"},
      {"trace --function f -p 1 -c ls", "-p and a command (-c or --) exclude each other"},
      {"trace --function f -n a -- ls", "-n and a command (-c or --) exclude each other"},
      {"trace --function f -p 1 -n a", "-p and -n exclude each other"},
      {"trace --function f -c ls -- ls", "only one command"},
      {"trace --function f -n a -n b", "-n b: only one name"},
      {"trace --function f -p 1 --wait", "--wait needs -n NAME"},
      {"trace --function f -c 'ls", "a ' is not closed"},
      {"trace --function f -c ls|wc", "needs a shell"},
      {"trace --function f --", "--: no command follows"},
      {"list", "name a process with -p PID, or a file"},
      {"list -p 1 -p 2", "one -p PID"},
      {"list -p 1 a b", "unexpected 'b'"},
      {"list f a b", "unexpected 'b'"},
      {"list f --function x", "--function is not an option of blip list"},
      {"trace --functon f -p 1", "unknown option --functon: did you mean --function?"},
      {"trace --frobnicate -p 1", "unknown option --frobnicate: blip trace --help lists the options"},
      {"trace -Z", "unknown option -Z"},
      {"trace --version", "unknown option --version"},
      {"trace work -p 1", "unexpected 'work': probes are given as --function work"},
      {"trace --json=yes", "--json takes no value"},
      {"count --function f -p 1 -o DIR", "-o is not an option of blip count, only of trace, record"},
      {"record --function f -p 1 --json", "--json is not an option of blip record, only of trace, count"},
      {"trace --syscall f -p 1", "--syscall is not available in this version"},
      {"trace --return f+4 -p 1", "--return takes functions"},
      {"trace --syscall=read -p 1", "--syscall is not available in this version"},
      {"trace --mark=a:b:c:d -p 1", "--mark 'a:b:c:d': 'a:b:c:d': a mark is written [MODULE:]PROVIDER:NAME"},
      {"trace --mark= -p 1", "--mark '': '': the name of a mark is missing"},
      {"list f --marks --coverage", "--marks and --coverage exclude each other"},
      {"trace --function f+4 -p 1", "--function takes functions; a single instruction is --probe f+4"},
      {"trace --every-instruction f+4 -p 1", "--every-instruction takes functions"},
      {"trace --probe f* -p 1", "--probe 'f*': a probe is one instruction; --function f* takes patterns"},
      {"trace --probe f+ -p 1", "a number must follow '+'"},
      {"trace --probe lib:0x10 -p 1", "an address of the file's own is written lib+0x10"},
      {"trace --line a.c -p 1", "--line 'a.c': it is written FILE:LINE, as in parser.c:120"},
      {"trace --line a.c: -p 1", "the number of the line behind ':'"},
      {"trace --line a.c:0 -p 1", "0 is too small"},
      {"trace --line a.c:x -p 1", "'x' is not a number"},
      {"trace --line :4 -p 1", "the file before ':' is missing"},
      {"trace --line -p 1", "--line '-p': it is written FILE:LINE"},
      {"list f --line a.c:1", "--line is not an option of blip list"},
      {"list f --coverage --probe x", "--probe is not an option of blip list"},
      {"list f --coverage=yes", "--coverage takes no value"},
      {"trace --function f -p 1 --coverage", "--coverage is not an option of blip trace, only of list"},
      {"trace --function f --context reg:rzx -p 1", "--context: unknown register 'rzx': use one of rax rbx"},
      {"trace --function f --context foo -p 1",
       "--context: unknown context 'foo': use regs, reg:NAME, ip, pid"},
      {"trace --function f --context tid, -p 1", "unknown context ''"},
      {"trace --function f --context int:x -p 1", "it is written TYPE:NAME:ADDR, as in int:counter:0x404040"},
      {"trace --function f --context int128:x:1 -p 1", "unknown type 'int128': use one of int8 int16"},
      {"trace --function f --context int::1 -p 1", "the field's name is letters, digits and _, not ''"},
      {"trace --function f --context int:x: -p 1", "the address is missing"},
      {"trace --function f --context bytes[0]:x:1 -p 1", "bytes[0]: 0 is too small"},
      {"trace --function f --context bytes[9999]:x:1 -p 1", "bytes[9999]: 9999 is too large"},
      {"trace --function f --capture= -p 1", "--capture: the list of expressions is empty"},
      {"trace --function f --filter= -p 1", "--filter: the expression is empty"},
      {"trace --function f --filter a --filter b -p 1", "a probe has one filter; && puts two together"},
      {"trace --return f --locals -p 1", "--locals: a function has none any more when it returns"},
      {"trace --every-instruction f --args -p 1", "its events carry registers only"},
      {"trace --function f --string-max 0 -p 1", "--string-max: 0 is too small"},
      {"count --function f --args -p 1", "--args is not an option of blip count, only of trace, record"},
      {"trace --function f --duration soon -p 1", "--duration: 'soon' is not a time"},
      {"trace --function f --max-pause 0 -p 1", "--max-pause: 0 is no time at all"},
      {"trace --function f --max-pause soon -p 1", "--max-pause: 'soon' is not a time"},
      {"trace --function f --max-events 0 -p 1", "--max-events: 0 is too small"},
      {"record --function f --num-subbuf 1 -p 1", "--num-subbuf: 1 is too small: at least 2"},
      {"record --function f --num-subbuf 6 -p 1", "--num-subbuf: 6 is not a power of two"},
      {"record --function f --subbuf-size 1k -p 1", "--subbuf-size: 1k is too small: at least 4k"},
      {"record --function f --subbuf-size 5000 -p 1", "not a power of two: 4k or 8k would be"},
      {"record --function f --subbuf-size 2G -p 1", "at most 1G"},
      {"record --function f --max-probes 0 -p 1", "--max-probes: 0 is too small"},
      {"record --clock=sun -p 1 --function f", "'sun' is not auto, tsc or monotonic"},
      {"record --backend=warp -p 1 --function f", "'warp' is not auto, jump, trap or uprobe"},
      {"record --moved-faults=maybe -p 1 --function f", "'maybe' is not auto, accept or refuse"},
      {"count --moved-faults -p 1 --function f", "'-p' is not auto, accept or refuse"},
      {"trace --color=red", "'red' is not auto, always or never"},
      {"view a b", "blip view takes one directory"},
      {"view --from soon", "--from: 'soon' is no time of a trace: 2s"},
      {"view --to 25:00:00", "'25:00:00' is no time"},
      {"view --head 0", "--head: 0 is too small"},
      {"view --thread main", "--thread: 'main' is not a number"},
      {"view --function=", "--function: the name is empty"},
      {"count --head 1 -p 1 --function f", "--head is not an option of blip count, only of view"},
      {"trace --function f -p 1 --output=", "-o: the file's name is empty"},
      {"view -p 1", "-p is not an option of blip view"},
  };
  for (const auto& c : kCases) {
    const auto command = parse_command(words(c.line));
    ASSERT_FALSE(command) << c.line;
    EXPECT_EQ(command.error().kind(), ErrorKind::kUsage) << c.line;
    EXPECT_THAT(command.error().message(), HasSubstr(c.message)) << c.line;
    EXPECT_EQ(command.error().message().find('\n'), std::string::npos) << c.line;
  }
}

TEST(Options, what_becomes_of_instructions_that_may_fault) {
  using session::MovedFaults;
  const auto chosen = [](const std::string& line) {
    return parse_command(words(line))->session.moved_faults;
  };
  EXPECT_EQ(chosen("count -p 1 --function f"), MovedFaults::kAuto);
  EXPECT_EQ(chosen("count -p 1 --function f --moved-faults auto"), MovedFaults::kAuto);
  EXPECT_EQ(chosen("record -p 1 --function f --moved-faults=accept"), MovedFaults::kAccept);
  EXPECT_EQ(chosen("list -p 1 --moved-faults refuse"), MovedFaults::kRefuse);
}

TEST(Options, empty_words_are_refused) {
  EXPECT_FALSE(parse_command({"trace", "--function", "", "-p", "1"}));
  EXPECT_FALSE(parse_command({"record", "--function", "f", "-p", "1", "-o", ""}));
  EXPECT_FALSE(parse_command({"view", ""}));
  EXPECT_FALSE(parse_command({""}));
}

TEST(Contexts, both_spellings_of_each) {
  const auto contexts = parse_contexts("pid,vpid,tid,vtid,comm,procname,cpu,ip,regs");
  ASSERT_TRUE(contexts);
  using namespace session::contexts;
  std::vector<const session::ContextRow*> rows;
  for (const auto& c : *contexts) rows.push_back(c.row);
  EXPECT_THAT(rows, ElementsAre(&kPid, &kPid, &kTid, &kTid, &kComm, &kComm, &kCpu, &kIp, &kAllRegisters));
  EXPECT_EQ(merge_contexts(*contexts, *contexts).size(), 6U);
}

TEST(Contexts, values_in_memory) {
  using Kind = session::MemoryContext::Kind;
  const auto contexts = parse_contexts("int:a:0x10,uint16:b:lib.so:var+8,string:c:v,bytes[7]:d:1,double:e:2");
  ASSERT_TRUE(contexts);
  const auto& memory = [&](size_t i) { return (*contexts)[i].memory; };
  EXPECT_EQ(memory(0), (session::MemoryContext{Kind::kInt, 4, true, "a", "0x10"}));
  EXPECT_EQ(memory(1), (session::MemoryContext{Kind::kInt, 2, false, "b", "lib.so:var+8"}));
  EXPECT_EQ(memory(2), (session::MemoryContext{Kind::kString, 0, false, "c", "v"}));
  EXPECT_EQ(memory(3), (session::MemoryContext{Kind::kBytes, 7, false, "d", "1"}));
  EXPECT_EQ(memory(4), (session::MemoryContext{Kind::kFloat, 8, true, "e", "2"}));
  EXPECT_EQ(merge_contexts(*contexts, *contexts).size(), 5U);
}

TEST(Contexts, every_register) {
  for (const char* name : {"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11",
                           "r12", "r13", "r14", "r15", "rip", "rflags"})
    EXPECT_TRUE(parse_contexts(std::string("reg:") + name)) << name;
  for (const char* name : {"", "eax", "r16", "xmm0", "rdi "})
    EXPECT_FALSE(parse_contexts(std::string("reg:") + name)) << name;
}

TEST(Contexts, regs_holds_every_single_register) {
  const auto one = parse_contexts("reg:rdi,tid"), all = parse_contexts("regs,reg:rax");
  EXPECT_EQ(merge_contexts(*one, *all).size(), 2U);
}

TEST(Help, shows_what_exists_and_nothing_else) {
  const std::string general = general_help();
  for (const VerbFact& fact : verb_table()) EXPECT_THAT(general, HasSubstr(std::string(fact.synopsis)));
  EXPECT_THAT(general, testing::Not(HasSubstr("--syscall")));
  for (const VerbFact& verb : verb_table()) {
    const std::string help = verb_help(verb.verb);
    for (const OptionFact& fact : option_table()) {
      const bool shown = help.find("--" + std::string(fact.long_name)) != std::string::npos;
      const bool hidden = fact.id == OptionId::kLater && !fact.long_name.empty();
      EXPECT_TRUE(shown || !(fact.verbs & verb_bit(verb.verb))) << verb.name << " " << fact.long_name;
      EXPECT_FALSE(shown && hidden) << verb.name << " " << fact.long_name;
    }
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
    EXPECT_LE(std::count(help.begin(), help.end(), '\n'), 48) << "two screens: " << verb.name;
    EXPECT_THAT(help, HasSubstr("blip " + std::string(verb.name)));
  }
}

TEST(Help, of_one_option) {
  const auto command = parse_command({"help", "--filter"});
  ASSERT_TRUE(command);
  EXPECT_EQ(command->help_option, "filter");
  EXPECT_THAT(option_help("filter"), HasSubstr("--filter EXPR (trace, record, count)\n"));
  EXPECT_THAT(option_help("output"),
              AllOf(HasSubstr("--output DIR (record)"), HasSubstr("--output FILE (trace, run)")));
  EXPECT_FALSE(parse_command({"help", "--syscall"}));
  EXPECT_FALSE(parse_command({"help", "--nix"}));
  for (const OptionFact& fact : option_table())
    EXPECT_EQ(option_help(fact.long_name).empty(), fact.id == OptionId::kLater) << fact.long_name;
}

// What --help tells people to type must work.
TEST(Help, every_example_parses) {
  for (const VerbFact& verb : verb_table()) {
    std::istringstream lines{std::string(verb.examples)};
    for (std::string what, line; std::getline(lines, what) && std::getline(lines, line);) {
      const size_t quoted = line.rfind('\'') + 1;  // what comes behind the last quote may be the shell's
      auto args = split_shell_words(line.substr(0, line.find_first_of("|&", quoted))).value();
      ASSERT_EQ(args.at(0), "blip");
      args.erase(args.begin());
      EXPECT_TRUE(parse_command(args)) << line;
    }
  }
}

TEST(Suggest, near_words_only) {
  EXPECT_EQ(nearest("durations", {"function", "duration"}), "duration");
  EXPECT_EQ(nearest("xyz", {"function", "duration"}), "");
  EXPECT_EQ(nearest("", {"function"}), "");
}

}  // namespace
}  // namespace blip::cli
