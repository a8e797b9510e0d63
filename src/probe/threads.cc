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
                                                 bool check_signal_frames, bool move_if_blocked) {
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
  if (check_signal_frames) {
    SignalFrames frames(attachment.threads(), memory, maps);
    for (size_t i = 0; i < attachment.threads().size(); ++i) {
      TRY(const std::vector<TargetAddr> pcs, frames.interrupted_pcs(i));
      for (TargetAddr interrupted : pcs)
        if (const Patch* patch = index.inside_window(interrupted)) blocked.push_back(patch);
    }
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
                                         std::span<const proc::Map> maps, const Footprint& footprint,
                                         bool check_signal_frames) {
  const std::span<const proc::Thread> threads = attachment.threads();
  for (const proc::Thread& thread : threads)
    if (footprint.in_pads(TargetAddr(thread.registers.rip))) return std::optional(thread.tid);
  if (!check_signal_frames) return std::optional<pid_t>();
  SignalFrames frames(threads, memory, maps);
  for (size_t i = 0; i < threads.size(); ++i) {
    auto pcs = frames.interrupted_pcs(i);
    if (!pcs) return std::optional(threads[i].tid);  // not known to be outside
    for (TargetAddr pc : *pcs)
      if (footprint.in_pads(pc)) return std::optional(threads[i].tid);
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
