// SPDX-License-Identifier: MIT
#include "jit/make_emitter.h"

#include "jit/count.h"
#include "jit/enter.h"
#include "jit/hit/hit_condition.h"
#include "jit/latency.h"
#include "jit/record.h"
#include "jit/return.h"
#include "jit/tell_libraries.h"

namespace blip::jit {

namespace {

std::unique_ptr<ProgramEmitter> make_body(const Emission& emission) {
  switch (emission.program.kind) {
    case Program::Kind::kEnter:
      return std::make_unique<EnterEmitter>(emission);
    case Program::Kind::kTellLibraries:
      return std::make_unique<TellLibrariesEmitter>(emission);
    case Program::Kind::kCount:
      return std::make_unique<CountEmitter>(emission);
    case Program::Kind::kLatency:
      return std::make_unique<LatencyEmitter>(emission);
    case Program::Kind::kRecord:
      break;
  }
  return std::make_unique<RecordEmitter>(emission);
}

}  // namespace

std::unique_ptr<ProgramEmitter> make_emitter(std::span<const Emission> emissions) {
  if (!emissions.front().program.is_return) return make_body(emissions.front());
  std::vector<ReturnEmitter::Body> bodies;
  for (const Emission& e : emissions)
    bodies.push_back(
        {std::make_unique<HitConditionEmitter>(e, make_body(e)), e.program, e.code.assembler().newLabel()});
  return std::make_unique<ReturnEmitter>(emissions.front(), std::move(bodies));
}

}  // namespace blip::jit
