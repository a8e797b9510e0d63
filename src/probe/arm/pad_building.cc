// SPDX-License-Identifier: MIT
#include "probe/arm/pad_building.h"

#include "base/give_back.h"

namespace blip::probe {

Result<MadePatches> build_pads(TraceParts& trace, const Batch& batch, std::span<const Module> modules) {
  TRY(MadePatches made, batch.build(trace.memory.places(), modules, trace.probes.fresh(),
                                    trace.facts.environment(), trace.facts.threads().shadow_stack));
  for (const auto& [job, reason] : made.refused) trace.report.refuse(batch.jobs()[job], reason);
  trace.traps.use_code(made);
  trace.memory.put_sites(made.table.edits.edits());
  return made;
}

void refuse_returns(Batch& batch, const KeptMemory& kept) {
  if (kept.returns.empty()) return;
  for (size_t i = 0; i < batch.jobs().size(); ++i) {
    const x86::Rewrite& r = batch.jobs()[i].site->rewrite;
    const TargetAddr board = r.springboard;
    const bool sprung = board != TargetAddr() && kept.returns_into({board, board + abi::kJumpSize});
    if (sprung || kept.returns_into({r.start, r.end()}))
      batch.refuse(i, "somebody is still inside a probe that an earlier blip had at the same bytes");
  }
}

void give_up_programs(TraceParts& trace) {
  trace.probes.settle();
  trace.batches.back().settle();
  give_back_memory();
}

}  // namespace blip::probe
