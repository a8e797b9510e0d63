// SPDX-License-Identifier: MIT
#include "cli/help/topics.h"

namespace blip::cli {
namespace {

constexpr Term kSpecs[] = {
    {"NAME",
     "a function of the executable; if it has none of that name, of every loaded library. Mangled and "
     "demangled names match. If no function has just that name, it means those of any namespace or class: "
     "`handle` means `shop::Service::handle`, and a notice says so. A function's clones, which compilers "
     "make for some of its callers, are that function: `f` also means `f.constprop.0` and `f.isra.0` (but "
     "not `f.part.0` and `f.cold`, which f itself jumps to). `main` and `_start` are found in stripped "
     "executables too"},
    {"GLOB",
     "a pattern with `*`, `?` or `[...]`, matched against the executable's functions; if none matches, "
     "against those of every loaded library, and a notice says so. `*` alone also means functions that have "
     "no name, as in stripped programs: they are called MODULE+0xADDR. Quote it: the shell has patterns too"},
    {"MODULE:NAME, MODULE:GLOB",
     "the same in one module, named by its file name with or without `.so...`: `libz.so.1:inflate`, "
     "`libz:inflate*`"},
    {"*:GLOB", "in every module"},
    {"0xADDR",
     "an address in the process: of the function that begins there, or, for `--probe`, of an instruction"},
    {"SYMBOL+OFFSET", "of `--probe`: an instruction of a function, as `objdump -d` and debuggers show it"},
    {"FILE+0xOFF",
     "of `--probe`: an instruction by its address in the file, as `objdump -d` shows it: `libz.so.1+0x3c40`. "
     "Needed where several functions have one name"},
    {"several probes at one place",
     "each has its own filter, data and event: `--function f --filter 'n < 2' --function f --filter 'n > 7'` "
     "gives an event for the first and one for the second. Of a function, what is asked for twice in exactly "
     "the same way, under the same name, is one probe: `--function f --function 'f*'` gives one event for "
     "each call of f. `blip count` tells the rows of one function apart by their filters"},
};

constexpr Term kContexts[] = {
    {"reg:NAME", "one register, as a field of that name: `reg:rdi` is the first integer argument"},
    {"regs", "all general registers, `rip` and `rflags`"},
    {"ip", "the address of the probe"},
    {"pid, tid", "process and thread, stored as `vpid` and `vtid`; those names are accepted too"},
    {"comm", "the thread's name, stored as `procname`"},
    {"cpu", "the CPU"},
};

constexpr Term kExpressions[] = {
    {"n, req, total",
     "a parameter, a local variable, a member of `this`, a variable of the file, or a variable "
     "that other files let see. Of another file's static: `file.c::name`. Of a library or a namespace: "
     "`libfoo.so.1::name`, `ns::name`"},
    {"a.b, p->b",
     "a member, also of anonymous members and base classes. `std::unique_ptr`, `std::shared_ptr` "
     "and `std::optional` are followed; `t.0` is the first element of a tuple"},
    {"a[i], *p, a[i..j]",
     "an element, what a pointer points to, and all elements from i to before j: of "
     "pointers, arrays, `std::vector`, `std::string`, `std::array`, `std::span`, Rust's `Vec`, Go's slices"},
    {"v.size(), v.empty(), o.has_value(), p.get()",
     "the methods of standard containers and owners. The "
     "program's own methods are not called"},
    {"a + b, a << 2, ~a",
     "arithmetic on integers and pointers, with C's conversions: `+ - * / % << >> & | ^ ~ !`"},
    {"a == b, a && b",
     "comparisons, `&&`, `||` and `?:`. Floating-point values are compared, not calculated with"},
    {"(int)x, (struct request *)p", "casts to the program's types; also `sizeof(x)`"},
    {"p == \"text\", startswith(p, \"text\")",
     "texts: `char *`, `char[]`, `std::string`, "
     "`std::string_view`, `&str`, `String`, slices"},
    {"state == RUNNING", "labels of enumerations"},
    {"10, 0x1f, 1e3, 2us, 64k",
     "numbers; times (`ns`, `us`, `ms`, `s`) are in nanoseconds, sizes (`k`, `M`, `G`) in bytes. Also "
     "`0b11`, "
     "`1.5`, `'a'`, `true`, `NULL`"},
    {"$rax, $al, $xmm0, $rflags", "registers"},
    {"arg0 ... arg5, farg0 ... farg7",
     "arguments without debugging information, at the entry: integers and "
     "doubles. Functions of the C library have names and types"},
    {"$return, ret, latency_ns, depth, tail",
     "at a return: the result by its type, its 64 bits, the duration "
     "of the call (`latency` for short), the number of calls of probed functions around it, 1 if the call "
     "ended with a jump to another function"},
    {"entry(x)",
     "at a return: the value that x had when the call began. `entry(p->len)` is the length then, "
     "`entry(p)->len` the length now. Arguments and local variables themselves are gone at a return"},
};

constexpr Term kExitStatus[] = {
    {"0", "fine. Ctrl-C is a normal end"},
    {"1", "failed, or nothing matched"},
    {"2", "wrong usage"},
};

constexpr Term kFiles[] = {
    {"./blip-COMM-PID-DATE-TIME",
     "where `blip record` writes without `-o`: a directory with a CTF 1.8 trace, one stream per CPU. "
     "babeltrace2 and Trace Compass read it"},
    {"$XDG_CACHE_HOME/blip, ~/.cache/blip",
     "indexes of large debugging information, by build-id, so that the next start is fast; at most 512 MB. "
     "They may be deleted at any time"},
};

constexpr Term kEnvironment[] = {
    {"NO_COLOR", "when set and not empty, no colours unless `--color always` asks for them"},
    {"TERM", "`dumb` means no colours and no status line"},
    {"BLIP_DEBUGINFOD",
     "`1`: debugging information that is not on this machine is asked for at the servers that "
     "DEBUGINFOD_URLS names, by elfutils' debuginfod-find. It takes a minute at most; nobody is asked "
     "without this"},
    {"BLIP_CACHE", "`off`: nothing is read from or written to the cache directory"},
};

constexpr Term kPermissions[] = {
    {"kernel.yama.ptrace_scope = 1",
     "the default of many distributions: only own children may be traced. Start the program under blip "
     "(`-c`, `--`), run blip as root, or `sysctl kernel.yama.ptrace_scope=0`"},
    {"kernel.yama.ptrace_scope = 2", "root only"},
    {"kernel.yama.ptrace_scope = 3", "nobody, until the next boot"},
    {"another user's process", "run blip as that user or as root"},
    {"a process that is not dumpable",
     "set-uid programs, programs whose file you may not read, and those that called `prctl(PR_SET_DUMPABLE, "
     "0)`: root only"},
    {"containers",
     "run blip as root outside, or inside the container with the capability SYS_PTRACE and a seccomp profile "
     "that allows ptrace"},
};

constexpr Term kBelonging[] = {
    {"blip trace -p 1 --context tid --function a --function b",
     "before the first probe: `a` and `b` have tid"},
    {"blip trace -p 1 --function a --context tid --function b", "after a probe: `a` alone has tid"},
    {"blip trace -p 1 --function a --function b --context tid",
     "only the last probe has the option: `a` and `b` have tid. The same holds for `--args` and `--locals`, "
     "and a notice says so"},
    {"blip trace -p 1 --function a --args --function b --context tid",
     "each option for itself: `a` has its arguments and tid, `b` has tid"},
    {"blip trace -p 1 --function a --function b --context tid,backtrace",
     "a backtrace is dear and never goes to other probes: `a` has tid, `b` has tid and the backtrace"},
    {"blip trace -p 1 --function a --function b --filter 'n > 5' --capture n",
     "`--filter` and `--capture` name variables of one function: they are `b`'s alone, and a notice says so. "
     "Before the first probe they hold for all"},
};

constexpr Topic kBelongingTopic = {"WHICH PROBES AN OPTION MEANS",
                                   "`--context`, `--args`, `--locals`, `--filter` and `--capture` belong to "
                                   "the probe before them; before the first probe, to all. `--context`, "
                                   "`--args` or `--locals` that only the last of several probes has belongs "
                                   "to all:",
                                   kBelonging};

constexpr Topic kTopics[] = {
    {"SPEC",
     "Which functions or instructions a probe means. Numbers are decimal, octal with `0` or hex with `0x` in "
     "front. The separator is a single `:`, so C++ names with `::` need nothing special.",
     kSpecs},
    {"CONTEXTS", "What is stored with each event, besides its time. `blip trace` shows the thread always.",
     kContexts},
    {"EXPRESSIONS",
     "`--filter` decides by an expression whether a hit is worth an event; `--capture` says by a list of "
     "expressions what the event holds. They are C's expressions on the program's own variables and types, "
     "computed in the target. They change nothing: there is no assignment, and no function is called. "
     "Memory that is not there makes a value `<bad address>`, and a filter false.\n\n"
     "An item of a list may be named: `total = a + b`. Values that are not known at a place say why, as "
     "`<optimized out>` or `<not set yet>`.",
     kExpressions},
    {"EXIT STATUS", "With `-c` or `--`, the command's own status is passed on, and the signal that ended it.",
     kExitStatus},
    {"FILES", "", kFiles},
    {"ENVIRONMENT", "", kEnvironment},
    {"PERMISSIONS",
     "blip needs what a debugger needs: the right to ptrace the target. The message says which of these "
     "stands in the way:",
     kPermissions},
    {"NOTES",
     "What goes wrong never harms the target: a function that cannot be patched safely is refused, and `-v` "
     "says why. If blip itself is killed, the target runs on; `blip clean`, or the next blip that comes to "
     "it, cleans up.\n"
     "\n"
     "Lines of blip's own go to stderr and begin with `blip: `. Those that begin with `blip: still ` tell "
     "what takes longer than half a second; on a terminal that is one line which vanishes. `-q` turns both "
     "off.",
     {}},
};

}  // namespace

std::string_view one_line_description() {
  return "trace functions of running processes, without root or restart";
}

std::string_view description() {
  return "blip puts probes on functions of a running process and writes what they record to a CTF trace, to "
         "the terminal, or into a table. The process is not restarted or rebuilt, no library is loaded into "
         "it, and no debugger stays attached to it: it is stopped for some milliseconds at the start and at "
         "the end. A hit costs about as much as reading the clock.\n"
         "\n"
         "When the trace ends, by Ctrl-C, a limit, or the end of the process, its code is byte for byte what "
         "it was.";
}

const Topic& first_topic() { return kBelongingTopic; }
std::span<const Topic> topics() { return kTopics; }

}  // namespace blip::cli
