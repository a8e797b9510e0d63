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

std::unique_ptr<ActionEmitter> make_body(const Emission& emission) {
  switch (emission.action.effect) {
    case Effect::kEnter:
      return std::make_unique<EnterEmitter>(emission);
    case Effect::kTellLibraries:
      return std::make_unique<TellLibrariesEmitter>(emission);
    case Effect::kCount:
      return std::make_unique<CountEmitter>(emission);
    case Effect::kLatency:
      return std::make_unique<LatencyEmitter>(emission);
    case Effect::kRecord:
      break;
  }
  return std::make_unique<RecordEmitter>(emission);
}

}  // namespace

std::unique_ptr<ActionEmitter> make_emitter(std::span<const Emission> emissions) {
  if (!emissions.front().action.is_return) return make_body(emissions.front());
  std::vector<ReturnEmitter::Body> bodies;
  for (const Emission& e : emissions)
    bodies.push_back(
        {std::make_unique<HitConditionEmitter>(e, make_body(e)), e.action, e.code.assembler().newLabel()});
  return std::make_unique<ReturnEmitter>(emissions.front(), std::move(bodies));
}

}  // namespace blip::jit
