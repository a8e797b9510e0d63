// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctf/schema.h"
#include "session/named_frame.h"
#include "session/options.h"

namespace blip::session {

// What is at an address of a traced process, SYMBOL+0xOFF; empty if it is not known any more.
using PlaceNamer = std::function<std::string(uint64_t)>;

// What events of a class that many places share are called at an address (session/place_name.h); empty: not
// known.
using EventNamer = std::function<std::string(const ctf::EventClass&, uint64_t)>;

// One event for the live printer; valid during the call.
struct EventView {
  const ctf::EventClass& event_class;
  uint64_t time_ns;  // CLOCK_MONOTONIC
  // Header and fields, at the offsets of event_class; if it has a hit word, back to back as in a file.
  std::span<const uint8_t> record;
  const PlaceNamer* place_of = nullptr;
  const FrameNamer* frames_of = nullptr;
  const EventNamer* name_of = nullptr;
};

struct Refusal {
  std::string probe;   // "libz.so.1:inflate"
  std::string reason;  // "a branch at inflate+0x40 leads into the bytes to be replaced"
};

struct Armed {
  uint64_t probes = 0;   // over all processes
  uint64_t traps = 0;    // of these, by int3
  double total_ms = 0;   // from blip's start, without the time that it waited for a process to come
  double paused_ms = 0;  // the longest stop of any thread
  std::vector<Refusal> refused;
  std::vector<std::string> remarks;  // what the user should know: a script's interpreter is traced
  std::vector<std::string> notes;    // for -v: fall-backs taken, leftovers cleaned
};

struct ProbeCount {
  std::string name;    // event name
  std::string module;  // basename
  uint64_t hits = 0;
  bool in_sequence = false;           // one of every instruction: belongs beside its neighbours
  std::string filter{};               // of the probe, as it was given; empty: none
  std::optional<uint64_t> address{};  // in the module's file; none: it has several
};

// How the calls of a function went.
struct CallSummary {
  std::string name;                   // of the function
  std::string module;                 // basename
  std::string filter{};               // of the probe, as it was given; empty: none
  std::optional<uint64_t> address{};  // in the module's file
  uint64_t calls = 0;                 // that returned
  uint64_t total_ns = 0;
  uint64_t mean_ns = 0;
  uint64_t p50_ns = 0;  // half of them took no longer; at most 1/8 too much
  uint64_t p99_ns = 0;
  uint64_t max_ns = 0;
  uint64_t abandoned = 0;        // left by longjmp, an exception, the end of their thread
  std::optional<uint64_t> open;  // at the end, neither returned nor known to be abandoned; none: not known
};

// Why tracing ended.
enum class End { kStopped, kDuration, kMaxEvents, kTargetExit, kTargetExec, kOutputFailed };

struct Summary {
  End end = End::kStopped;
  uint64_t events = 0;
  uint64_t discarded = 0;
  uint64_t skipped = 0;
  std::string buffer_advice;       // where events were discarded: what would have helped
  std::string output_dir;          // kRecord
  std::vector<ProbeCount> counts;  // kCount: one per probe, in the order asked for
  std::vector<CallSummary> calls;  // kRecord, and with latencies: one per function whose returns are probed
  double detach_ms = 0;
  double detach_paused_ms = 0;
  double consumer_cpu_s = 0;
  std::vector<std::string> warnings;  // what the user must know: memory left behind, output lost
  bool failed = false;                // exit code 1 although the target is unharmed (disk full)
};

using EventSink = std::function<void(const EventView&)>;

// What run() tells while it goes on; each may be empty.
struct Hooks {
  EventSink sink;                                  // every event, in the order of time (Mode::kTrace)
  std::function<bool()> is_full;                   // true: the sink can take no more for now
  std::function<void()> end_of_round;              // there is nothing more for now
  std::function<void()> detached;                  // the targets are left; what follows is only said
  std::function<void(const std::string&)> notice;  // a process came or went
};

// One trace from attach to detach. Whatever happens after start(), the destructor leaves the target as it
// was.
class Session {
 public:
  // Finds the processes, plans, attaches, arms. With Options::wait_for_processes it waits for the first one;
  // `waiting` is called before that. A command is started, but runs no code of its own before run(). On an
  // error nothing is left in any target.
  static Result<std::unique_ptr<Session>> start(const Options& options,
                                                const std::function<void()>& waiting = {});
  ~Session();

  const Armed& armed() const;

  // Drains until the last process ends, a limit is reached or request_stop() was called; then disarms and
  // finishes the trace. A sink that is full does not put that off: what it could not take comes after
  // `detached`, and what the targets do meanwhile stays in the rings, as far as they have room.
  Summary run(const Hooks& hooks);

  // Nothing may match now: programs and libraries that come later count too.
  bool may_come_later() const;

  // The command ended, or executed another program, before everything in it could be probed.
  bool command_ended() const;
  // The end of the command, which may be long after run(): what waitpid(2) says. None if there is no command.
  std::optional<int> wait_for_command();

  // From a signal handler or another thread: run() comes to a normal end.
  static void request_stop();
  static bool stop_requested();
  // Asked from a signal handler: nothing is left behind if blip ends here and now.
  static bool may_end_at_once();
  // From a signal handler: sends the signal to the command or, if it has not been started yet, as soon as it
  // is. False if it has ended.
  static bool forward_to_command(int signal);

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace blip::session
