// SPDX-License-Identifier: MIT
// Runs the handlers of a script in the order of time (docs/design/programs.md): those of hits, on what pads recorded, those of
// timers between them, begin before and end behind all others. It knows no process: records come through add().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "session/run/handlers.h"
#include "session/run/hit_decoder.h"
#include "session/run/hit_queue.h"
#include "session/run/timers.h"

namespace blip::session {

struct EngineTotals {
  uint64_t hits = 0;       // whose handler was run
  uint64_t failed = 0;     // of these, failed; and so of handlers without a hit
  uint64_t malformed = 0;  // records that no pad can have written
  uint64_t not_run = 0;    // of hits after the script had ended
  uint64_t late = 0;       // hits that came after a younger one had been handled
  uint64_t stackless = 0;  // hits whose stack had no room
};

class Engine {
 public:
  // All of it outlives the engine.
  Engine(Handlers& handlers, script::World& world, script::Writer& writer);
  ~Engine();

  // Before the first record: the script's begin handlers run, and its timers start.
  void begin(uint64_t now_ns);

  // The trace has these classes; again when there are more.
  void add_classes(const std::vector<ctf::EventClass>& all);
  // A ring, whose records come in the order of time.
  HitQueue::Ring open_ring() { return queue_.open_ring(); }
  void close_ring(HitQueue::Ring ring) { queue_.close_ring(ring); }
  void add(HitQueue::Ring ring, const QueuedHit& hit, const uint8_t* untrusted_record) {
    queue_.add(ring, hit, untrusted_record);
  }
  // A process or a thread begins or ends, for handlers of such probes.
  struct Life {
    script::WantedProbe::Kind kind;
    uint64_t time_ns;
    int32_t pid, tid;
  };
  void add_life(const Life& life);
  // Something that no pad has recorded fires a probe whose handler is all in blip.
  struct OwnHit {
    size_t probe;  // of the script
    uint64_t time_ns;
    int32_t pid, tid;
    uint32_t cpu = 0;
    uint64_t stack = 0;
  };
  void add_own(HitQueue::Ring ring, const OwnHit& hit);
  // The number of a stack, for QueuedHit::stack. Equal stacks of one process have one number.
  uint64_t number_of_stack(int32_t pid, std::span<const uint64_t> frames);
  // Its process and frames, innermost first; null: no stack has that number.
  using Stack = std::pair<int32_t, std::vector<uint64_t>>;
  const Stack* stack(uint64_t number) const;

  // Everything older than `until_ns` has been added: runs what is due until then. Stops early if the output is full.
  void run_until(uint64_t until_ns);
  // The rest: no record comes any more. The output takes all there is. Then the script's end handlers run.
  void end(uint64_t now_ns);

  // Not null: asked often; true: nobody takes the output, and what is left waits.
  void stop_when(std::function<bool()> is_full) { is_full_ = std::move(is_full); }
  bool is_held_up() const { return is_held_up_; }
  // A handler has called exit(), or the language ends the script after a failure.
  bool is_over() const { return is_over_; }
  // When something is to be done without any record.
  std::optional<uint64_t> next_due() const;
  // A signal has come for handlers of WantedProbe::kSignal.
  void run_signal(int number, uint64_t now_ns);

  const script::Script& script() const { return handlers_.script(); }
  // How many bytes of records wait.
  uint64_t waiting() const { return queue_.bytes(); }
  EngineTotals totals() const;
  uint64_t timers_left_out() const { return timers_.left_out(); }
  // After end().
  int exit_code() const;
  // The time of the handler that runs.
  uint64_t now_ns() const { return now_ns_; }

 private:
  class ExitSink;

  void run_hit();
  void run_own(const QueuedHit& hit);
  void run_site(uint64_t number, const script::HitContext& context);
  script::HitContext own_context(uint64_t number, uint64_t now_ns) const;
  const script::UserIds& ids_of(int32_t pid);
  void run_all(script::WantedProbe::Kind kind, uint64_t now_ns);
  void settle(size_t probe, const script::Outcome& outcome, uint64_t clock);
  bool is_full();
  script::Interpreter& interpreter();

  Handlers& handlers_;
  script::World& world_;
  std::unique_ptr<script::ScriptOutput> output_;
  std::unique_ptr<ExitSink> sink_;
  std::optional<script::Interpreter> interpreter_;
  size_t interpreted_ = 0;  // functions that the interpreter knows
  HitQueue queue_;
  std::optional<HitQueue::Ring> own_ring_;  // of records that blip makes itself
  Timers timers_;
  std::vector<std::unique_ptr<HitDecoder>> decoders_;  // by class id
  std::map<Stack, uint64_t> stack_numbers_;
  std::vector<const Stack*> stacks_;  // by number - 1
  std::pair<int32_t, script::UserIds> last_ids_{-1, {}};
  std::function<bool()> is_full_;
  EngineTotals totals_;
  uint64_t now_ns_ = 0;
  bool has_printed_ = false;  // since the output was last asked for room
  bool is_held_up_ = false;
  bool is_over_ = false;
  bool has_failed_ = false;
  bool has_ended_ = false;
  std::optional<uint64_t> exit_code_;
};

}  // namespace blip::session
