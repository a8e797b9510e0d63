// SPDX-License-Identifier: MIT
#include "probe/inject/who_is_inside.h"

#include <algorithm>

namespace blip::probe {

namespace {

Standing standing(const InterruptedCode& code) {
  return {.pc = code.pc, .sp = code.sp, .goes_on = code.pc, .returns = true};
}

// Any word near the top of the stack counts: a stale one costs another try, no more.
bool returns_into_pads(const proc::Memory& memory, const Footprint& footprint, TargetAddr sp) {
  constexpr uint64_t kDeepest = 1024;  // frames of the vDSO
  for (uint64_t at = 0; at < kDeepest; at += 8) {
    const auto word = memory.read_value<uint64_t>(sp + at);
    if (!word) return false;  // the end of the stack
    if (footprint.in_pads(TargetAddr(*word))) return true;
  }
  return false;
}

}  // namespace

StoppedCode::StoppedCode(proc::Attachment& attachment, const proc::Memory& memory,
                         std::span<const proc::Map> maps)
    : attachment_(attachment), memory_(memory), maps_(maps), frames_(attachment.threads(), memory, maps) {}

Standing StoppedCode::thread(size_t i) const {
  const proc::Thread& thread = attachment_.threads()[i];
  return {.pc = TargetAddr(thread.registers.pc()),
          .sp = TargetAddr(thread.registers.sp()),
          .goes_on = TargetAddr(thread.restart_pc())};
}

const Result<std::vector<InterruptedCode>>& StoppedCode::interrupted(size_t i) {
  while (found_.size() <= i) found_.push_back(frames_.interrupted(found_.size()));
  return found_[i];
}

Result<std::vector<InterruptedCode>> StoppedCode::interrupted() {
  std::vector<InterruptedCode> all;
  for (size_t i = 0; i < attachment_.threads().size(); ++i) {
    const auto& codes = interrupted(i);
    if (!codes) return codes.error();
    all.insert(all.end(), codes->begin(), codes->end());
  }
  return all;
}

CodePlaces pads_of(const Footprint& footprint, const StoppedCode& code) {
  AddrRange vdso{};
  for (const proc::Map& map : code.maps())
    if (map.path == "[vdso]") vdso = map.range;
  return [&footprint, &memory = code.memory(), vdso](const Standing& s) {
    return footprint.in_pads(s.pc) || (vdso.contains(s.pc) && returns_into_pads(memory, footprint, s.sp));
  };
}

std::optional<Inside> who_is_inside(StoppedCode& code, const CodePlaces& places) {
  const std::span<const proc::Thread> threads = code.attachment().threads();
  for (size_t i = 0; i < threads.size(); ++i)
    if (places(code.thread(i))) return Inside{threads[i].tid};
  for (size_t i = 0; i < threads.size(); ++i) {
    const auto& codes = code.interrupted(i);
    if (!codes || any_inside(*codes, places)) return Inside{threads[i].tid, true};
  }
  return std::nullopt;
}

bool any_inside(std::span<const InterruptedCode> parked, const CodePlaces& places) {
  return std::any_of(parked.begin(), parked.end(),
                     [&](const InterruptedCode& code) { return places(standing(code)); });
}

}  // namespace blip::probe
