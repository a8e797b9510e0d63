// SPDX-License-Identifier: MIT
#include "probe/threads.h"

#include <algorithm>
#include <cstddef>

#include "probe/signal_frames.h"

namespace blip::probe {

namespace {

constexpr uint64_t kSyscallSize = 2;

// Where a thread has to go on so that it does at `copy` what it would have done at `pc`.
proc::Registers moved(const proc::Thread& thread, TargetAddr copy) {
  proc::Registers r = thread.registers;
  // The kernel will take a restarted system call back by the size of its instruction.
  r.rip = copy.value + (thread.registers.restarts_system_call() ? kSyscallSize : 0);
  return r;
}

std::optional<TargetAddr> copy_of(const Patch& patch, TargetAddr pc) {
  for (auto [from, to] : patch.heads)
    if (patch.addr + from == pc) return patch.pad + to;
  return std::nullopt;
}

std::optional<TargetAddr> original_of(const Patch& patch, TargetAddr pc) {
  if (pc == patch.pad) return patch.addr;
  for (auto [from, to] : patch.heads)
    if (patch.pad + to == pc) return patch.addr + from;
  return std::nullopt;
}

// Whether code belongs to a hit: the pads themselves, and the vDSO's clock where a pad has called it.
class PadCode {
 public:
  PadCode(const Footprint& footprint, const proc::Memory& memory, std::span<const proc::Map> maps)
      : footprint_(footprint), memory_(memory) {
    for (const proc::Map& map : maps)
      if (map.path == "[vdso]") vdso_ = map.range;
  }

  bool runs(TargetAddr pc, TargetAddr sp) const {
    return footprint_.in_pads(pc) || (vdso_.contains(pc) && returns_into_pads(sp));
  }

 private:
  // Any word near the top of the stack counts: a stale one costs another try, no more.
  bool returns_into_pads(TargetAddr sp) const {
    constexpr uint64_t kDeepest = 1024;  // frames of the vDSO
    for (uint64_t at = 0; at < kDeepest; at += 8) {
      const auto word = memory_.read_value<uint64_t>(sp + at);
      if (!word) return false;  // the end of the stack
      if (footprint_.in_pads(TargetAddr(*word))) return true;
    }
    return false;
  }

  const Footprint& footprint_;
  const proc::Memory& memory_;
  AddrRange vdso_{};
};

}  // namespace

const Patch* PatchIndex::inside_window(TargetAddr a) const {
  auto it = std::lower_bound(patches_.begin(), patches_.end(), a,
                             [](const Patch& p, TargetAddr x) { return p.addr < x; });
  if (it == patches_.begin()) return nullptr;
  --it;
  return a < it->addr + it->window ? &*it : nullptr;
}

Result<std::vector<const Patch*>> move_into_pads(proc::Attachment& attachment, const proc::Memory& memory,
                                                 std::span<const proc::Map> maps, const PatchIndex& index,
                                                 bool move_if_blocked) {
  std::vector<const Patch*> blocked;
  std::vector<std::pair<proc::Thread*, TargetAddr>> moves;
  for (proc::Thread& thread : attachment.threads()) {
    const TargetAddr pc(thread.restart_pc());
    if (const Patch* patch = index.inside_window(pc)) {
      if (const auto copy = copy_of(*patch, pc)) {
        moves.emplace_back(&thread, *copy);
      } else {
        blocked.push_back(patch);
      }
    }
  }
  // Also where no signal is caught now: a handler may have taken itself away (SA_RESETHAND) and still run.
  SignalFrames frames(attachment.threads(), memory, maps);
  for (size_t i = 0; i < attachment.threads().size(); ++i) {
    TRY(const std::vector<InterruptedCode> codes, frames.interrupted(i));
    for (const InterruptedCode& code : codes)
      if (const Patch* patch = index.inside_window(code.pc)) blocked.push_back(patch);
  }
  if (!blocked.empty() && !move_if_blocked) return blocked;
  for (auto [thread, copy] : moves) TRY_OK(thread->set_registers(moved(*thread, copy)));
  return blocked;
}

Status move_out_of_pads(proc::Attachment& attachment, const Footprint& footprint,
                        std::span<const Patch> patches) {
  for (proc::Thread& thread : attachment.threads()) {
    const TargetAddr pc(thread.restart_pc());
    if (!footprint.in_pads(pc)) continue;
    for (const Patch& patch : patches) {
      const auto original = original_of(patch, pc);
      if (!original) continue;
      TRY_OK(thread.set_registers(moved(thread, *original)));
      break;
    }
  }
  return {};
}

Result<std::optional<pid_t>> find_inside(proc::Attachment& attachment, const proc::Memory& memory,
                                         std::span<const proc::Map> maps, const Footprint& footprint) {
  const std::span<const proc::Thread> threads = attachment.threads();
  const PadCode pads(footprint, memory, maps);
  for (const proc::Thread& thread : threads)
    if (pads.runs(TargetAddr(thread.registers.rip), TargetAddr(thread.registers.rsp)))
      return std::optional(thread.tid);

  SignalFrames frames(threads, memory, maps);
  for (size_t i = 0; i < threads.size(); ++i) {
    auto codes = frames.interrupted(i);
    if (!codes) return std::optional(threads[i].tid);  // not known to be outside
    for (const InterruptedCode& code : *codes)
      if (pads.runs(code.pc, code.sp)) return std::optional(threads[i].tid);
  }
  return std::optional<pid_t>();
}

Status forget_descriptors(proc::Attachment& attachment, proc::Memory& memory, const Footprint& footprint) {
  constexpr uint64_t kRseqCs = 8;  // struct rseq
  std::vector<TargetAddr> places;
  for (proc::Thread& thread : attachment.threads()) {
    auto config = thread.rseq();
    if (config && config->area != TargetAddr()) places.push_back(config->area + kRseqCs);
  }
  std::vector<uint64_t> descriptors(places.size());
  std::vector<proc::ReadRequest> requests;
  for (size_t i = 0; i < places.size(); ++i)
    requests.push_back({places[i], {reinterpret_cast<uint8_t*>(&descriptors[i]), sizeof descriptors[i]}});
  TRY_OK(memory.read_all(requests));
  for (size_t i = 0; i < places.size(); ++i) {
    if (!footprint.in_pads(TargetAddr(descriptors[i]))) continue;
    const uint64_t none = 0;
    TRY_OK(memory.write(places[i], {reinterpret_cast<const uint8_t*>(&none), sizeof none}));
  }
  return {};
}

}  // namespace blip::probe
