// SPDX-License-Identifier: MIT
#include "jit/emitter.h"

#include "jit/count.h"
#include "jit/enter.h"
#include "jit/hit_condition.h"
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

std::unique_ptr<ProgramEmitter> make_emitter(const Emission& emission) {
  std::unique_ptr<ProgramEmitter> body = make_body(emission);
  if (!emission.program.is_return) return body;
  body = std::make_unique<HitConditionEmitter>(emission, std::move(body));
  return std::make_unique<ReturnEmitter>(emission, std::move(body));
}

}  // namespace blip::jit
