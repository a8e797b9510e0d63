// SPDX-License-Identifier: MIT
// Everything the user asked for, parsed but not yet resolved against a process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "elf/spec.h"
#include "proc/files/process.h"

namespace blip::session {

struct ContextRow;    // contexts.h
class HandlerSource;  // handler_source.h

// A value of a known type at a known address, without any debugging information.
struct MemoryContext {
  enum class Kind : uint8_t { kInt, kFloat, kPointer, kString, kBytes } kind = Kind::kInt;
  uint32_t size = 0;  // bytes; of strings none
  bool is_signed = false;
  std::string name;     // of the field
  std::string address;  // a number, or [MODULE:]SYMBOL[+OFFSET]

  bool operator==(const MemoryContext&) const = default;
};

struct Context {
  const ContextRow* row;        // what is said of it in the table
  std::string register_name{};  // of contexts::kRegister: lower case, "rdi"
  MemoryContext memory{};       // of contexts::kMemory

  bool operator==(const Context&) const = default;
};

// The program's data that an event shows, and the hits that are worth an event.
struct DataRequest {
  bool args = false;
  bool locals = false;
  std::vector<std::string> captures;  // lists of expressions, in the order given
  std::string condition;              // an expression; empty: all hits

  bool empty() const { return !args && !locals && captures.empty() && condition.empty(); }
  bool operator==(const DataRequest&) const = default;
};

enum class ProbeKind {
  kFunction,          // the entries of the functions that match
  kInstruction,       // one instruction
  kLine,              // where a source line begins
  kEveryInstruction,  // all instructions of the functions that match
  kReturn,            // the exits of the functions that match
  kMark,              // every place of the static marks that match
};

struct ProbeRequest {
  elf::Spec spec;                 // of kLine: `name` is the source file's; of kMark: PROVIDER:NAME
  std::vector<Context> contexts;  // in the order given, duplicates removed
  ProbeKind kind = ProbeKind::kFunction;
  uint32_t line = 0;  // of kLine
  DataRequest data{};
  // Of a script: the number of its probe there. Its handler says what is recorded.
  std::optional<size_t> wanted{};
  // Of a script: only in the executable (an empty path), or in this file.
  std::optional<std::string> only_in{};
  bool may_be_missing = false;         // that nothing matches is no error
  std::optional<size_t> instead_of{};  // only if nothing matches that request

  // True if both would give the same events wherever both match.
  bool wants_the_same(const ProbeRequest& other) const {
    return kind == other.kind && contexts == other.contexts && data == other.data && wanted == other.wanted;
  }
};

enum class Mode { kRecord, kTrace, kCount };  // kCount: or measure, see Options::latencies

// The source of the times of events. kAuto means the TSC where it can be used, else CLOCK_MONOTONIC.
enum class ClockChoice { kAuto, kTsc, kMonotonic };

// How control gets to a probe: a jump into a pad, an int3 and a signal handler, or a breakpoint of the
// kernel. kAuto: jumps.
enum class Backend { kAuto, kJump, kTrap, kUprobe };

// Instructions that may fault, in a program that handles faults: it would see the address of the pad they are
// moved to. kAuto: they stay in place, unless its handler is known not to care. kAccept: what is refused for
// that is moved all the same. kRefuse: they stay in place in every program.
enum class MovedFaults { kAuto, kAccept, kRefuse };

struct Options {
  Mode mode = Mode::kRecord;
  // The targets: processes (pids, or all of a name), or a command to be started.
  std::vector<pid_t> pids;
  std::string process_name;          // comm or the executable's basename
  bool wait_for_processes = false;   // with process_name: also those that start later
  std::vector<std::string> command;  // its words
  bool follow_fork = true;
  bool follow_exec = false;   // processes that call exec are traced on in their new program
  bool wait_library = false;  // nothing need match now: libraries may come that do
  bool lifecycle = false;     // also tell of processes, threads and libraries that come and go
  std::vector<ProbeRequest> probes;
  HandlerSource* handlers = nullptr;  // of the script that the probes are for; null: there is none
  bool latencies = false;             // kCount: how long calls take, in histograms; all probes are kReturn
  std::string output_dir;             // empty: the default name
  std::optional<std::chrono::nanoseconds> duration;
  std::optional<uint64_t> max_events;
  std::optional<std::chrono::nanoseconds> max_pause;  // of a thread of a target
  uint32_t subbuf_count = 4;
  uint32_t subbuf_size = 1 << 20;
  bool buffers_given = false;  // by the user: else many processes get smaller ones
  bool no_inline = false;      // copies of inlined functions are not probed
  uint32_t max_probes = 20000;
  uint32_t string_max = 256;  // bytes of a string in an event
  uint32_t elements = 64;     // of an array or a container in an event
  uint32_t depth = 3;         // of structures in structures, and containers in containers
  bool hex = false;           // integers are shown in base 16
  ClockChoice clock = ClockChoice::kAuto;
  Backend backend = Backend::kAuto;
  bool allow_trap = false;  // where no jump fits
  MovedFaults moved_faults = MovedFaults::kAuto;
  bool no_tid = false;      // kRecord: events tell their thread only where a context asks for it
  bool allow_init = false;  // as a target
  bool plans_only = false;  // nothing is armed
  bool verbose = false;
  std::string command_line;

  proc::Init init() const { return allow_init ? proc::Init::kAllow : proc::Init::kRefuse; }
};

// Every event tells its thread.
inline bool stores_tid(const Options& options) {
  return options.mode == Mode::kTrace || (options.mode == Mode::kRecord && !options.no_tid);
}

}  // namespace blip::session
