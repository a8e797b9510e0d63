// SPDX-License-Identifier: MIT
// What an operation costs in the interpreter of handlers: in a loop of numbers, as of a begin handler, and what many short
// handlers that update a map cost. An operation is a node, without constants and reads of locals, or a terminator.
// Prints a line of JSON for each.
#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "script/blocks/text.h"
#include "script/blocks/verify.h"
#include "script/run/interpreter.h"

namespace {

using namespace blip::script;

class NoSink : public Sink {
 public:
  void emit(uint32_t, std::span<const Argument>) override {}
  std::string sprint(uint32_t, std::span<const Argument>) override { return {}; }
  void print(uint32_t, const blip::state::Key*) override {}
  void exit(uint64_t) override {}
};

// 13 operations a turn.
constexpr const char* kLoop = R"(
function begin probe 0 at blip
  local 0 i64
  local 1 i64
b0: jump b1
b1: budget 64
    v0 = local 0
    v1 = less v0 1000000
    branch v1 b2 b3
b2: v0 = local 0
    v1 = local 1
    v2 = mul v0 7
    v3 = add v1 v2
    v4 = xor v3 v0
    v5 = shr v4 3
    v6 = and v5 0xffff
    v7 = add v4 v6
    set 1 v7
    v9 = local 0
    v10 = add v9 1
    set 0 v10
    jump b1
b3: return
)";
constexpr double kLoopOperations = 1e6 * 13;

// A filter, a sum by key, as most deferred handlers are.
constexpr const char* kHandler = R"(
map 0 "sum" (i64) i64 limit 4096 drop kept
function h probe 0 at blip
  captured 0 i64
b0: v0 = captured 0
    v1 = less 3 v0
    branch v1 b1 b2
b1: v0 = captured 0
    v1 = tid
    v2 = and v0 1023
    v3 = add_to 0 (v2) v0
    jump b2
b2: return
)";
constexpr int kHandlers = 1'000'000;

double thread_seconds() {
  timespec t;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// The least time of several rounds.
template <typename Run>
double best_of(int rounds, const Run& run) {
  double best = 1e9;
  for (int i = 0; i < rounds; ++i) {
    const double before = thread_seconds();
    run();
    best = std::min(best, thread_seconds() - before);
  }
  return best;
}

struct Bench {
  explicit Bench(const char* text) : program(parse_program(text).value()) {
    CHECK(verify(program));
    for (const auto& type : program.maps) maps.emplace_back(type);
  }

  Program program;
  std::vector<blip::state::Map> maps;
  NoSink sink;
  Interpreter interpreter{program, maps, sink, {.budget = UINT64_MAX}};
};

}  // namespace

int main() {
  constexpr int kRounds = 10;
  Bench loop(kLoop);
  const double turns = best_of(kRounds, [&] { loop.interpreter.run(0, {}); });
  fmt::print("{{\"what\": \"operation\", \"ns\": {:.2f}}}\n", turns / kLoopOperations * 1e9);
  Bench handler(kHandler);
  const double handlers = best_of(kRounds, [&] {
    for (int i = 0; i < kHandlers; ++i) {
      const CapturedValue captured[] = {{.value = {.number = static_cast<uint64_t>(i)}}};
      handler.interpreter.run(0, {.captured = captured});
    }
  });
  fmt::print("{{\"what\": \"handler\", \"ns\": {:.1f}}}\n", handlers / kHandlers * 1e9);
}
