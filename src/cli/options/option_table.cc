// SPDX-License-Identifier: MIT
#include "cli/options/option_table.h"

#include "base/check.h"

namespace blip::cli {
namespace {

constexpr unsigned kTrace = verb_bit(Verb::kTrace);
constexpr unsigned kRecord = verb_bit(Verb::kRecord);
constexpr unsigned kCount = verb_bit(Verb::kCount);
constexpr unsigned kRun = verb_bit(Verb::kRun);
constexpr unsigned kView = verb_bit(Verb::kView);
constexpr unsigned kList = verb_bit(Verb::kList);
constexpr unsigned kClean = verb_bit(Verb::kClean);
constexpr unsigned kTracing = kTrace | kRecord | kCount;
constexpr unsigned kEvents = kTrace | kRecord;
constexpr unsigned kTargets = kTracing | kRun;  // verbs that put probes into processes
constexpr unsigned kAll = kTargets | kList | kView | kClean;

constexpr VerbFact kVerbs[] = {
    {Verb::kTrace, "trace", "blip trace [OPTIONS] PROBES... (-p PID | -n NAME | -c \"CMD\" | -- CMD ARGS...)",
     "print events live, until Ctrl-C or the end",
     "Prints one line per event: time, time since the event before, thread, function, the fields asked for.\n"
     "The target is stopped for some milliseconds at the start and at the end; in between nothing is "
     "attached to it.",
     "every call of a function, with its first argument\n"
     "blip trace -p 4711 --function parse_request --context reg:rdi\n"
     "a whole family of functions for ten seconds, for another program to read\n"
     "blip trace -p 4711 --function 'parse_*' --duration 10s --json -o events\n"
     "a function of a library, who called it, and where\n"
     "blip trace -p 4711 --function libz.so.1:inflate --context comm,ip\n"
     "a command, from its first instruction to its end\n"
     "blip trace --function main --function malloc -- ls -l\n"
     "one instruction in the middle of a function, with a register\n"
     "blip trace -p 4711 --probe parse_request+0x4f --context reg:rax\n"
     "a line of the source\n"
     "blip trace -p 4711 --line parser.c:120\n"
     "static marks of a program, with their arguments\n"
     "blip trace -p 4711 --mark 'postgresql:query__*' --capture '(char *)arg1'\n"
     "what a function returns, and how long it took\n"
     "blip trace -p 4711 --return parse_request\n"
     "the same by its type, with what an argument was when the call began\n"
     "blip trace -p 4711 --return parse_request --capture '$return, entry(n), entry(req->length)'\n"
     "only the slow ones, and those that failed\n"
     "blip trace -p 4711 --return 'handle_*' --filter 'latency > 1ms || (int)ret < 0'\n"},
    {Verb::kRecord, "record",
     "blip record [OPTIONS] PROBES... (-p PID | -n NAME | -c \"CMD\" | -- CMD ARGS...) [-o DIR]",
     "write events to a trace",
     "Writes a CTF trace, which `blip view`, babeltrace2 and Trace Compass read. Events come at memory "
     "speed; nothing\n"
     "is printed. The default for DIR is ./blip-COMM-PID-DATE-TIME.",
     "two families of functions, until Ctrl-C or the end of the process\n"
     "blip record -p 4711 --function 'parse_*' --function 'libz.so.1:inflate'\n"
     "five seconds, into a directory of your choice\n"
     "blip record -p 4711 --function 'handle_*' --duration 5s -o /tmp/handle\n"
     "a context for each probe: contexts belong to the probe before them\n"
     "blip record -p 4711 --function f --context ip --function g --context regs\n"
     "bursts of events: more room in memory for each CPU\n"
     "blip record -p 4711 --function '*' --num-subbuf 8 --subbuf-size 4M\n"
     "every instruction of a function: which way did it take?\n"
     "blip record -p 4711 --every-instruction parse_request\n"
     "every process of a name, also those that start later\n"
     "blip record -n postgres --wait --function exec_simple_query\n"},
    {Verb::kCount, "count", "blip count [OPTIONS] PROBES... (-p PID | -n NAME | -c \"CMD\" | -- CMD ARGS...)",
     "count hits, print a table at the end",
     "Counts in the target's memory and records nothing: the cheapest way to learn which functions run, and "
     "how often.",
     "which of these functions run at all?\n"
     "blip count -p 4711 --function '*' --duration 2s\n"
     "calls of one function, until Ctrl-C\n"
     "blip count -p 4711 --function work\n"
     "for another program to read\n"
     "blip count -p 4711 --function 'parse_*' --duration 10s --json\n"
     "how often each instruction of a function runs\n"
     "blip count -p 4711 --every-instruction parse_request\n"
     "how long calls take: mean, percentiles, the longest\n"
     "blip count -p 4711 --latency --function 'handle_*' --duration 10s\n"},
    {Verb::kRun, "run",
     "blip run [OPTIONS] (-e TEXT | FILE | -) [ARGS...] [-p PID | -n NAME | -c \"CMD\" | -- CMD ARGS...]",
     "run a script at probes",
     "Runs a script: what it says for a probe is done at each hit, in the order of time. blip does it, in "
     "its "
     "own process;\n"
     "the target only records what the script wants to know. A script of begin, end and timers needs no "
     "target. FILE says\n"
     "its language by its suffix. #!/usr/bin/env -S blip run makes a script a command. ARGS are the script's "
     "own.",
     "a script, in a running process\n"
     "blip run calls.blip -p 4711\n"
     "the same in a command, from its first instruction to its end\n"
     "blip run calls.blip -c 'ls -l'\n"
     "is it a valid script?\n"
     "blip run --parse-only calls.blip\n"},
    {Verb::kList, "list", "blip list [OPTIONS] (-p PID | -n NAME | FILE) [GLOB]", "show what can be probed",
     "Prints one line per function of a process or of a file: its address (in a file: the file's own), its "
     "size in bytes,\n"
     "how its entry would be patched, its module, and its name. The word for patching is nop5 or insn if one "
     "instruction\n"
     "makes room, window if several do, refused, or a word that --coverage explains. The reason of a refusal "
     "stands behind\n"
     "a #. Nothing is stopped or changed. GLOB is a SPEC as for --function. Without it, all functions of the "
     "executable are\n"
     "listed, those without a name as MODULE+0xADDRESS. -v adds source lines, mangled names, aliases, "
     "build-ids,\n"
     "and with a GLOB the signature, the variables that can be seen there, and the layout of their types.",
     "functions of a process by name\n"
     "blip list -p 4711 'parse_*'\n"
     "functions of a file, with source lines where they are known\n"
     "blip list /usr/bin/gdb '*symtab*' -v\n"
     "for another program to read\n"
     "blip list -p 4711 --json\n"
     "static marks of a process and its libraries\n"
     "blip list -p 4711 --marks\n"
     "how many of a library's instructions can be probed, and how\n"
     "blip list /usr/lib/x86_64-linux-gnu/libc.so.6 --coverage\n"},
    {Verb::kView, "view", "blip view [OPTIONS] [DIR]", "print a recorded trace",
     "Prints the events of the trace in DIR, merged over all CPUs and sorted by time. Without DIR: the "
     "newest trace that\n"
     "`blip record` left in the current directory under its default name. An event is shown if it passes all "
     "of the\n"
     "options that choose; stderr says how many of how many were shown.",
     "the newest trace here\n"
     "blip view\n"
     "a certain one, its first events\n"
     "blip view /tmp/handle --head 20\n"
     "the last half second of one thread\n"
     "blip view /tmp/handle --thread 4713 --from -500ms\n"
     "a function and its returns, in a second of the day\n"
     "blip view /tmp/handle --function 'handle_*' --from 14:03:07 --to 14:03:08\n"
     "for another program\n"
     "blip view /tmp/handle --json | jq .latency_ns\n"},
    {Verb::kClean, "clean", "blip clean [OPTIONS] (-p PID [--save DIR] | --all)",
     "take out what a killed blip left in a process",
     "A process whose blip was killed goes on with its probes in place. blip clean restores its code, and "
     "that of its\n"
     "forked children, and takes blip's memory away. Memory that somebody is still inside (a signal handler "
     "that\n"
     "sleeps on top of a probe) stays, does no harm, and goes when blip clean is run later. Where a blip "
     "still\n"
     "traces, nothing is done.",
     "after a blip was killed\n"
     "blip clean -p 4711\n"
     "the same, and keep the events that are still in its memory\n"
     "blip clean -p 4711 --save /tmp/rest && blip view /tmp/rest\n"
     "every process in which a blip may have been killed\n"
     "blip clean --all\n"},
};

constexpr OptionFact later(std::string_view short_names, std::string_view long_name) {
  return {OptionId::kLater, OptionGroup::kGeneral, short_names, long_name, "", "", 0};
}

constexpr OptionFact kOptions[] = {
    {OptionId::kScriptText, OptionGroup::kScript, "e", "script", "TEXT",
     "the script itself, in place of FILE. Its language is found out, unless --lang says it", kRun,
     "the script itself, in place of FILE"},
    {OptionId::kLanguage, OptionGroup::kScript, "", "lang", "LANG",
     "the language of the script: bpftrace, or blocks (the text form of compiled handlers, "
     "docs/design/blocks.md). Without this option, a file's suffix says it: .bt, .blip; a text is in the "
     "first language that it is right in",
     kRun, "the script's language: bpftrace, blocks"},
    {OptionId::kGlobal, OptionGroup::kScript, "G", "global", "NAME=VALUE",
     "give a global of the script another value at the start. Repeatable", kRun,
     "set a global of the script at the start"},
    {OptionId::kDefine, OptionGroup::kScript, "D", "define", "NAME=VALUE",
     "define a macro for the script, such as MAXACTION=5000. Repeatable", kRun,
     "define a macro, such as MAXACTION=5000"},
    {OptionId::kParseOnly, OptionGroup::kScript, "", "parse-only", "",
     "read the script, say what is wrong with it, and end", kRun, "only read the script"},
    {OptionId::kCheck, OptionGroup::kScript, "", "check", "",
     "also compile it, for the target if one is given; arm nothing", kRun, "only compile it, arm nothing"},
    {OptionId::kDryRun, OptionGroup::kScript, "", "dry-run", "",
     "do all but run the script: arm its probes, take them out, and end", kRun,
     "arm the probes, take them out, and end"},
    {OptionId::kMayRunCommands, OptionGroup::kScript, "g", "unsafe", "",
     "the script may run commands (system)", kRun, "the script may run commands"},
    {OptionId::kListPoints, OptionGroup::kScript, "l", "list-points", "POINT",
     "list what a probe point of the script's language means, in a process or in the file that it names",
     kRun, "list what a probe point means"},
    {OptionId::kListVariables, OptionGroup::kScript, "L", "list-variables", "POINT",
     "the same with the parameters and local variables that can be seen there", kRun,
     "the same, with variables"},
    {OptionId::kExplain, OptionGroup::kScript, "d", "explain", "",
     "show what the script is compiled to, for the target if one is given (docs/design/blocks.md); run "
     "nothing",
     kRun, "show what it is compiled to"},
    {OptionId::kFunction, OptionGroup::kProbes, "", "function", "SPEC",
     "entry of every function matching SPEC: NAME, GLOB, MODULE:NAME or MODULE:GLOB, mangled or not. A NAME "
     "or GLOB is looked for in the executable and, if nothing there matches, in its libraries; '*:GLOB' in "
     "all modules. handle also means ns::Class::handle. Repeatable",
     kTracing, "entries of functions: NAME, GLOB, MODULE:NAME, '*:GLOB'"},
    {OptionId::kReturn, OptionGroup::kProbes, "", "return", "SPEC",
     "every return of the functions matching SPEC, as for --function. Each exit gives one event, "
     "NAME:return, with ret (all of rax, whatever the function's type is), latency_ns (the time since the "
     "entry), depth (how many calls of probed functions were around it, at most 65535) and tail (1 if the "
     "call ended with a jump to another function; ret is not known then). A call that ends by longjmp or an "
     "exception gives no event. Not in Go. Repeatable",
     kTracing, "their returns: ret, latency_ns, depth"},
    {OptionId::kProbe, OptionGroup::kProbes, "", "probe", "SPEC",
     "one instruction: SYMBOL+OFFSET, 0xADDR (an address in the process), FILE+0xOFF (an address in the "
     "file, as objdump shows it), or SYMBOL for its first. Repeatable",
     kTracing, "one instruction: SYMBOL+OFFSET, 0xADDR, FILE+0xOFF"},
    {OptionId::kLine, OptionGroup::kProbes, "", "line", "FILE:LINE",
     "wherever the code of a source line begins, inlined copies included. Needs debugging information. FILE "
     "is a file's name or the end of its path. Repeatable",
     kTracing, "where the code of a source line begins"},
    {OptionId::kMark, OptionGroup::kProbes, "", "mark", "PROVIDER:NAME",
     "every place of the static marks (USDT, <sys/sdt.h>) that match: PROVIDER:NAME, MODULE:PROVIDER:NAME or "
     "NAME, each part may be a pattern, in the executable and all libraries. The events have the mark's "
     "arguments arg1, arg2, ..., unless --capture chooses. Repeatable",
     kTracing, "static marks (USDT), with their arguments"},
    {OptionId::kEveryInstruction, OptionGroup::kProbes, "", "every-instruction", "SPEC",
     "each instruction of every function matching SPEC, as for --function; the events carry the ip. "
     "Repeatable",
     kTracing, "each instruction of functions"},
    {OptionId::kFilter, OptionGroup::kProbes, "", "filter", "EXPR",
     "record or count only the hits for which EXPR is true. EXPR is written as for --capture: 'n > 100 && "
     "req->path == \"/admin\"'. It is false if it needs memory that cannot be read. For returns: 'latency > "
     "1ms && $return < "
     "0 && entry(n) > 5'; ret is unsigned, (int)ret and (long)ret are signed. Belongs to the probe before "
     "it; before the first probe, to all probes, or to all returns if it is about them. Each "
     "probe of a function has a filter of its own",
     kTracing, "only hits it is true for: 'n > 100 && req->len'"},
    {OptionId::kArgs, OptionGroup::kProbes, "", "args", "",
     "store the arguments of the function, by name and type. They are known from debugging information, or "
     "from blip's table of the C library's functions; without either, the six registers arg0 to arg5 are "
     "stored. Belongs to the probe before it; before the first probe, or if only the last of several has it, "
     "to all. For returns: the arguments as they were at the entry",
     kEvents, "store the arguments, by name and type"},
    {OptionId::kLocals, OptionGroup::kProbes, "", "locals", "",
     "store every local variable that is visible at the probe. Needs debugging information. Belongs to the "
     "probe before it; before the first probe, or if only the last of several has it, to all",
     kEvents, "store the local variables"},
    {OptionId::kCapture, OptionGroup::kProbes, "", "capture", "LIST",
     "store the values of expressions, separated by commas, as C would write them: n, req->path, "
     "req->headers[2].name, *p, buf[0..n], (struct job *)arg, module::global, $rax, arg0; NAME = EXPR gives "
     "a field its name. For returns: $return (what the function returns, by its type), latency_ns, "
     "entry(EXPR) (what EXPR was when the call began), globals. Belongs to the probe before it; before the "
     "first probe, to all. Repeatable",
     kEvents, "store values: n, req->path, buf[0..n], $return"},
    {OptionId::kStringMax, OptionGroup::kProbes, "", "string-max", "N",
     "store at most N bytes of a string (256)", kEvents},
    {OptionId::kElements, OptionGroup::kProbes, "", "elements", "N",
     "store at most N elements of an array or a container (64)", kEvents},
    {OptionId::kDepth, OptionGroup::kProbes, "", "depth", "N",
     "store structures in structures, and containers in containers, at most N deep (3)", kEvents},
    {OptionId::kNoInline, OptionGroup::kProbes, "", "no-inline", "",
     "only functions that are called. Without this option, the NAME of a function also means its inlined "
     "copies, where debugging information tells of them: one event where a copy begins, called NAME (inlined "
     "in CALLER). A GLOB never means inlined copies",
     kTargets | kList},
    {OptionId::kNoTid, OptionGroup::kProbes, "", "no-tid", "",
     "store the thread (vtid) only in events of probes with --context tid. Without this every event has it, "
     "in 4 bytes. Readers need it to nest calls",
     kRecord},
    {OptionId::kLatency, OptionGroup::kProbes, "", "latency", "",
     "measure calls instead of counting hits. --function and --return then mean the same: every call of the "
     "functions matching, as for --return. The table has the number of calls, the sum, the mean, the 50th "
     "and 99th percentile (at most an eighth too high), the longest, the calls that ended by longjmp or an "
     "exception (abandoned), and those that were still open at the end. With --filter, only calls that "
     "pass it are measured",
     kCount, "measure calls: mean, percentiles, the longest"},
    {OptionId::kContext, OptionGroup::kProbes, "", "context", "TYPE[,TYPE]",
     "what to store with each event: reg:NAME (reg:rdi), regs, ip, pid (or vpid), tid (or vtid), comm (or "
     "procname), cpu, backtrace (the calls that led there, without frame pointers), or TYPE:NAME:ADDR, a "
     "value in memory: TYPE is int8 to int64, uint8 to uint64, int, long, float, double, pointer, string or "
     "bytes[N], NAME the field's name, ADDR a number or SYMBOL+OFFSET. Belongs to the probe before it; "
     "before the first probe, or if only the last of several has it, to all (but not a backtrace). "
     "Repeatable",
     kTracing, "store reg:rdi, regs, ip, comm, cpu, backtrace, ..."},
    {OptionId::kLifecycle, OptionGroup::kProbes, "", "lifecycle", "",
     "also give events for processes and threads that begin and end, for fork and exec, and for libraries "
     "that are loaded and unloaded. With -p and without probes, nothing is put into the process, and "
     "processes and threads that live only a few milliseconds are missed",
     kEvents, "also processes, threads, libraries: begin and end"},
    {OptionId::kMaxProbes, OptionGroup::kProbes, "", "max-probes", "N",
     "how many probes may be armed before blip refuses (20000)", kTargets},
    {OptionId::kClock, OptionGroup::kProbes, "", "clock", "CLOCK",
     "where times come from: tsc (the CPU's cycle counter), monotonic (the kernel's clock, slower), auto "
     "(the default: tsc where it is constant). With count, it needs --latency",
     kTargets},
    {OptionId::kBackend, OptionGroup::kProbes, "", "backend", "BACKEND",
     "how a probe gets control: jump (into code that blip puts into the process), trap (as "
     "--allow-trap says, but for every probe), uprobe (the kernel's breakpoints: root only, about a hundred "
     "times slower, follows "
     "no forks), auto (the default: jump)",
     kTracing},
    {OptionId::kAllowTrap, OptionGroup::kProbes, "", "allow-trap", "",
     "where no jump fits, use a breakpoint instruction and a SIGTRAP handler in the process. This is slow, "
     "and "
     "a thread that blocks SIGTRAP later and then reaches such a probe ends the process. Not in the C "
     "library, in Go, or under seccomp",
     kTargets},
    {OptionId::kMovedFaults, OptionGroup::kProbes, "", "moved-faults", "WHAT",
     "what to do with instructions that may fault (SIGSEGV, SIGBUS, SIGFPE) where a probe would move them: "
     "the program's handler would then see an address of blip's. auto (the default): leave them in place in "
     "a program that handles such faults, unless its handler is known not to care; accept: move them where "
     "nothing else helps, and say how many; refuse: leave them in place in every program, as for one that "
     "installs a handler later",
     kTargets | kList},
    {OptionId::kViewFunction, OptionGroup::kEvents, "", "function", "NAME",
     "only events of this function, entries and returns: a name or a GLOB, as `blip view` shows it. handle "
     "also means ns::Class::handle. Repeatable: one of them must match",
     kView, "only events of this function: a name or a GLOB"},
    {OptionId::kThread, OptionGroup::kEvents, "", "thread", "TID", "only events of this thread. Repeatable",
     kView, "only events of this thread"},
    {OptionId::kFrom, OptionGroup::kEvents, "", "from", "TIME",
     "only events at TIME or later: 2s or 20ms after the first event of the trace, -2s before the last one, "
     "14:03:07.25 (as events show it), '2026-01-31 14:03:07.25' (local; UTC with a Z behind), @1700000000.25 "
     "(seconds since 1970; 16 digits or more are nanoseconds, as in JSON)",
     kView, "from 2s after the begin, -2s before the end, 14:03:07"},
    {OptionId::kTo, OptionGroup::kEvents, "", "to", "TIME", "only events at TIME, as for --from, or earlier",
     kView, "up to TIME, as for --from"},
    {OptionId::kHead, OptionGroup::kEvents, "", "head", "N",
     "only the first N of the events that the other options leave", kView, "only the first N of these"},
    {OptionId::kPid, OptionGroup::kTarget, "px", "pid", "PID",
     "a process to trace, list or clean. Repeatable", kTargets | kList | kClean, "a process. Repeatable"},
    {OptionId::kAllowInit, OptionGroup::kTarget, "", "allow-init", "",
     "process 1 may be traced or cleaned, as root. If it fails, the whole machine, or its container, goes "
     "down "
     "with it",
     kTargets | kClean},
    {OptionId::kAll, OptionGroup::kTarget, "", "all", "",
     "every process in which a blip that has ended left something", kClean,
     "every process that a killed blip left something in"},
    {OptionId::kSave, OptionGroup::kOutput, "", "save", "DIR",
     "with one -p: make a trace in DIR of the events that a killed blip had not written yet", kClean,
     "with one -p: a trace of what was not written yet"},
    {OptionId::kName, OptionGroup::kTarget, "n", "name", "NAME",
     "every process of yours whose command name, or executable's base name, is NAME. For list there must be "
     "only one",
     kTargets | kList, "the processes of yours that have this name"},
    {OptionId::kWait, OptionGroup::kTarget, "", "wait", "",
     "with -n: also the processes that start later; waits for the first one if there is none", kTargets,
     "with -n: also those that start later"},
    {OptionId::kCommand, OptionGroup::kTarget, "c", "command", "\"CMD\"",
     "start CMD, split into words like sh does (no shell runs), and trace it from its first instruction. -- "
     "CMD ARGS... is the same in words",
     kTargets, "start CMD and trace it; -- CMD ARGS... is the same"},
    {OptionId::kNoFollowFork, OptionGroup::kTarget, "", "no-follow-fork", "",
     "leave the children of traced processes alone", kTargets, "leave children alone"},
    {OptionId::kFollowExec, OptionGroup::kTarget, "", "follow-exec", "",
     "when a traced process, or a child of one, calls exec, trace its new program too, from some "
     "milliseconds after its start. A SPEC that does not match now may match then",
     kTargets, "trace on in the new program after exec"},
    {OptionId::kWaitLibrary, OptionGroup::kTarget, "", "wait-library", "",
     "go on even if nothing matches yet, because the process may load a library in which something does. (A "
     "SPEC of a library that is not loaded is waited for anyway if another one matches.)",
     kTargets},
    {OptionId::kDuration, OptionGroup::kEnd, "", "duration", "TIME",
     "end after TIME: 10s, 500ms, 2m, 1h; a plain number means seconds", kTargets,
     "end after TIME: 10s, 500ms, 2m, 1h"},
    {OptionId::kMaxEvents, OptionGroup::kEnd, "", "max-events", "N",
     "end after N events; those of --lifecycle do not count", kEvents, "end after N events"},
    {OptionId::kMaxPause, OptionGroup::kTarget, "", "max-pause", "MS",
     "stop no thread of a process for longer than MS milliseconds (or 20ms, 0.5s) at a time. blip then lets "
     "go and tries again, up to 60 times, and puts probes in and takes them out in several stops. What could "
     "not be armed that way is refused. Nothing is left armed at the end",
     kTargets, "stop no thread for longer than MS milliseconds at a time"},
    {OptionId::kOutput, OptionGroup::kOutput, "o", "output", "DIR",
     "the trace's directory: a new one, or an empty one", kRecord, "the trace's directory, new or empty"},
    {OptionId::kOutputFile, OptionGroup::kOutput, "o", "output", "FILE",
     "write the events, or what a script prints, to FILE instead of stdout. What FILE holds is replaced. "
     "Messages stay on stderr, and a command's output on stdout",
     kTrace | kRun, "write to FILE instead of stdout"},
    {OptionId::kFormat, OptionGroup::kOutput, "f", "format", "FORMAT",
     "what the script prints: text (the default), or json, one object per line", kRun,
     "text (the default), or json"},
    {OptionId::kCoverage, OptionGroup::kOutput, "", "coverage", "",
     "show how each instruction of the functions would be patched: how many in which way, and why others are "
     "refused; -v lists those",
     kList, "how each instruction would be patched"},
    {OptionId::kMarks, OptionGroup::kOutput, "", "marks", "",
     "show static marks (USDT) instead of functions: where they are, how they would be patched, and their "
     "arguments. GLOB is a SPEC as for --mark. -v adds the operands that the arguments are read from, and "
     "semaphores",
     kList, "static marks (USDT) instead of functions"},
    {OptionId::kJson, OptionGroup::kOutput, "", "json", "", "one JSON object per line (docs/json.md)",
     kTrace | kCount | kList | kView, "one JSON object per line (docs/json.md)"},
    {OptionId::kHex, OptionGroup::kOutput, "", "hex", "",
     "show integers of --args, --locals and --capture in base 16; JSON has them as they are",
     kEvents | kView},
    {OptionId::kColor, OptionGroup::kOutput, "", "color", "WHEN",
     "auto (the default: when printing to a terminal and NO_COLOR is not set), always, never", kAll},
    {OptionId::kNumSubbuf, OptionGroup::kBuffers, "", "num-subbuf", "N",
     "sub-buffers per CPU, a power of two, at least 2 (4)", kEvents | kRun,
     "sub-buffers per CPU, a power of two (4)"},
    {OptionId::kSubbufSize, OptionGroup::kBuffers, "", "subbuf-size", "SIZE",
     "size of a sub-buffer, a power of two from 4k to 1G, suffixes k M G (1M)", kEvents | kRun,
     "size of each, 4k to 1G (1M)"},
    {OptionId::kVerbose, OptionGroup::kGeneral, "v", "verbose", "",
     "list refused probes with the reason, and what else happened", kAll,
     "list what was refused and why, and more"},
    {OptionId::kQuiet, OptionGroup::kGeneral, "q", "quiet", "", "no notices; errors and warnings stay", kAll,
     "no notices; errors and warnings stay"},
    {OptionId::kHelp, OptionGroup::kGeneral, "h", "help", "", "this text", kAll, "this text"},
    {OptionId::kVersion, OptionGroup::kGeneral, "V", "version", "", "blip's version", 0},
    // The rest of the design's command line.
    later("", "syscall"),
    later("", "shm-path"),
};

}  // namespace

std::span<const VerbFact> verb_table() { return kVerbs; }
std::span<const OptionFact> option_table() { return kOptions; }

std::string_view group_title(OptionGroup group) {
  switch (group) {
    case OptionGroup::kScript:
      return "Script";
    case OptionGroup::kProbes:
      return "Probes";
    case OptionGroup::kEvents:
      return "Which events";
    case OptionGroup::kTarget:
      return "Target";
    case OptionGroup::kEnd:
      return "End (also: Ctrl-C, the target's exit)";
    case OptionGroup::kOutput:
      return "Output";
    case OptionGroup::kBuffers:
      return "Buffers";
    case OptionGroup::kGeneral:
      return "General";
  }
  return "";
}

const VerbFact* find_verb(std::string_view name) {
  for (const VerbFact& fact : kVerbs)
    if (fact.name == name) return &fact;
  return nullptr;
}

const VerbFact& verb_fact(Verb verb) {
  for (const VerbFact& fact : kVerbs)
    if (fact.verb == verb) return fact;
  CHECK(!"a verb without a row in the table");
  return kVerbs[0];
}

namespace {

template <typename HasName>
const OptionFact* find_option(Verb verb, HasName has_name) {
  const OptionFact* of_another = nullptr;
  for (const OptionFact& fact : kOptions) {
    if (!has_name(fact)) continue;
    if (fact.verbs & verb_bit(verb)) return &fact;
    of_another = &fact;
  }
  return of_another;
}

}  // namespace

const OptionFact* find_long_option(std::string_view name, Verb verb) {
  return find_option(
      verb, [&](const OptionFact& fact) { return !fact.long_name.empty() && fact.long_name == name; });
}

const OptionFact* find_short_option(char name, Verb verb) {
  return find_option(
      verb, [&](const OptionFact& fact) { return fact.short_names.find(name) != fact.short_names.npos; });
}

}  // namespace blip::cli
