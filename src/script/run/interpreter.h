// SPDX-License-Identifier: MIT
// Runs the functions of a program in blip: handlers whose hit has been recorded, begin, end and timers, and whole handlers in
// tests. It says what blocks mean: machine code must do the same.
//
// One thread runs all handlers one after the other, in the order of time, so that each is atomic.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "script/blocks/library.h"
#include "script/ir/interpret.h"
#include "script/run/bytecode.h"
#include "state/map.h"

namespace blip::script {

struct CapturedValue {
  Argument value{};
  bool is_fault = false;
};

// What a handler sees of the hit that it is for.
struct HitContext {
  uint64_t clock = 0, probe = 0, pid = 0, tid = 0, cpu = 0, uid = 0, gid = 0;
  std::span<const CapturedValue> captured{};  // one for each that the function has
  const Machine* machine = nullptr;           // for functions `at hit`; null: all it would show are faults
  std::optional<uint64_t> stack{};
};

// What comes out. Texts live until the call returns.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void emit(uint32_t format, std::span<const Argument> arguments) = 0;
  virtual std::string sprint(uint32_t format, std::span<const Argument> arguments) = 0;
  virtual void print(uint32_t map, const state::Key* key) = 0;  // null: all of it
  virtual void exit(uint64_t code) = 0;                         // the handler goes on
};

// Why a handler or function ended before its end.
enum class Failure : uint8_t {
  kNothing,
  kRead,      // memory that could not be read, or a value that was not recorded
  kDivision,  // by zero
  kLookup,    // a table has no such row
  kEmpty,     // a statistic of no numbers
  kMapFull,
  kScript,  // the script says so
  kBudget,  // these three are not caught
  kDepth,
  kTexts,
};

struct Outcome {
  Failure failure = Failure::kNothing;
  std::string message{};
  uint64_t defaults = 0;  // faults that a default took the place of
};

struct RunLimits {
  uint64_t budget = 100'000;        // nodes of loops and of functions that are called
  uint32_t depth = 32;              // calls in calls
  size_t texts = size_t{16} << 20;  // bytes of all texts that a run has at one time
};

class Interpreter {
 public:
  // The program is a verified one; `maps` are of its types. All must live as long as the interpreter. `world` is what functions
  // of the library ask; null: there is no session.
  Interpreter(const Program& program, std::vector<state::Map>& maps, Sink& sink, const RunLimits& limits = {},
              World* world = nullptr);

  // A function without parameters.
  Outcome run(uint32_t function, const HitContext& hit);
  // Instructions run so far.
  uint64_t instructions() const { return instructions_; }

 private:
  struct Walk {
    std::vector<state::Map::Step> steps;
    size_t next = 0;
  };
  struct Activation {
    const FlatFunction* function;
    uint32_t which;
    uint32_t base;  // its first slot
    uint32_t first_walk;
    uint32_t at = 0;  // its call's instruction, while that runs
  };

  void enter(uint32_t function);
  void leave(std::optional<uint64_t> result);
  bool call(const Instruction& instruction);
  void execute();
  bool go_on_after_failure();
  bool take_budget(uint64_t nodes);

  void compute(const Instruction& instruction);
  void observe(const Instruction& instruction);
  void observe_machine(const Instruction& instruction, const Node& node);
  void read_text(const Instruction& instruction, uint64_t most);
  void read_bytes(const Instruction& instruction, uint64_t most);
  bool effect(const Instruction& instruction);
  bool update(const Effect& e, uint64_t& result);
  bool apply(const Effect& e, uint64_t& result);
  bool walk(const Effect& e, uint64_t& result);
  bool statistic(const Effect& e, uint32_t to);
  const state::Key& key_of(const Effect& e);
  std::span<const Argument> arguments_of(const Effect& e);

  std::string_view text(uint64_t slot) const {
    return std::string_view(texts_).substr(slot >> 32, slot & UINT32_MAX);
  }
  bool new_text(std::string_view text, uint64_t& slot);
  void collect_texts();
  bool fail(Failure why, std::string message);
  void mark(uint32_t to, Failure why) { marks_[activations_.back().base + to] = static_cast<uint8_t>(why); }
  void make(uint32_t to, uint64_t value) {
    slots_[activations_.back().base + to] = value;
    mark(to, Failure::kNothing);
  }
  uint64_t slot(uint32_t which) const { return slots_[activations_.back().base + which]; }

  const Program& program_;
  std::vector<state::Map>& maps_;
  Sink& sink_;
  RunLimits limits_;
  World* world_;
  std::vector<FlatFunction> functions_;
  size_t program_texts_ = 0;  // bytes

  // Of a run.
  const HitContext* hit_ = nullptr;
  std::vector<Activation> activations_;
  std::vector<uint64_t> slots_;
  std::vector<uint8_t> marks_;
  std::vector<Walk> walks_;
  std::string texts_;
  uint64_t budget_ = 0;
  Outcome outcome_;
  uint64_t instructions_ = 0;

  // Kept from one use to the next.
  state::Key key_;
  std::vector<Argument> arguments_;
};

// What is said of a failure that the script has no text for.
const char* message_of(Failure failure);

}  // namespace blip::script
