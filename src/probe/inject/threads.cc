// SPDX-License-Identifier: MIT
#include "probe/inject/threads.h"

#include <algorithm>
#include <cstddef>

#include "machine/thread_registers.h"

namespace blip::probe {

namespace {

// Where a thread has to go on so that it does at `copy` what it would have done at `pc`.
proc::Registers moved(const proc::Thread& thread, TargetAddr copy) {
  proc::Registers r = thread.registers;
  // The kernel will take a restarted system call back by the size of its instruction.
  r.set_pc(copy.value + (machine::restarts_system_call(r) ? machine::kSyscallLength : 0));
  return r;
}

// The first head is the one before the instruction's probes.
std::optional<TargetAddr> copy_of(const Patch& patch, TargetAddr pc) {
  for (auto [from, to] : patch.heads)
    if (patch.addr + from == pc) return patch.pad + to;
  return std::nullopt;
}

}  // namespace

PatchIndex::PatchIndex(const PatchTable& table, Only only) : patches_(table.patches), only_(only) {
  for (uint32_t i = 0; i < patches_.size(); ++i) {
    const Patch& patch = patches_[i];
    if (!counts(patch)) continue;
    if (patch.pad != TargetAddr()) pads_.emplace_back(patch.pad, i);
    if (patch.entry != TargetAddr()) entries_.emplace_back(patch.entry, i);
    if (patch.springboard != TargetAddr()) springboards_.emplace_back(patch.springboard, i);
  }
  for (Places* places : {&pads_, &entries_, &springboards_}) std::sort(places->begin(), places->end());
}

const Patch* PatchIndex::find(const Places& places, std::span<const Patch> patches, TargetAddr a) {
  const auto it = std::lower_bound(places.begin(), places.end(), std::pair(a, uint32_t{0}));
  return it != places.end() && it->first == a ? &patches[it->second] : nullptr;
}

const Patch* PatchIndex::last_before(TargetAddr a) const {
  const auto it = std::lower_bound(patches_.begin(), patches_.end(), a,
                                   [](const Patch& p, TargetAddr x) { return p.addr < x; });
  return it == patches_.begin() ? nullptr : &*(it - 1);
}

const Patch* PatchIndex::disturbed_at(TargetAddr a) const {
  if (const Patch* patch = last_before(a); patch && counts(*patch) && a < patch->addr + patch->window)
    return patch;
  auto it = std::upper_bound(springboards_.begin(), springboards_.end(), std::pair(a, UINT32_MAX));
  if (it == springboards_.begin() || a >= (--it)->first + abi::kJumpSize) return nullptr;
  return &patches_[it->second];
}

std::vector<AddrRange> PatchIndex::disturbed_places() const {
  std::vector<AddrRange> places;
  for (const Patch& patch : patches_) {
    if (!counts(patch)) continue;
    if (patch.window > 1) places.push_back({patch.addr + 1, patch.addr + patch.window});
    if (patch.springboard != TargetAddr())
      places.push_back({patch.springboard, patch.springboard + abi::kJumpSize});
  }
  return merge_ranges(std::move(places));
}

bool PatchIndex::behind_trap(TargetAddr a) const {
  const Patch* patch = last_before(a);
  return patch && patch->trap && patch->addr + 1 == a;
}

std::vector<TargetAddr> PatchIndex::springboards() const {
  std::vector<TargetAddr> all;
  for (auto [at, patch] : springboards_) all.push_back(at);
  return all;
}

const Patch* PatchIndex::springboard_at(TargetAddr a) const { return find(springboards_, patches_, a); }

std::optional<TargetAddr> PatchIndex::original_of(TargetAddr pc) const {
  for (const Places* places : {&entries_, &springboards_})
    if (const Patch* patch = find(*places, patches_, pc)) return patch->addr;
  auto it = std::upper_bound(pads_.begin(), pads_.end(), std::pair(pc, UINT32_MAX));
  if (it == pads_.begin()) return std::nullopt;
  const Patch& patch = patches_[(--it)->second];
  if (pc == patch.pad) return patch.addr;
  for (auto [from, to] : patch.heads)
    if (patch.pad + to == pc) return patch.addr + from;
  return std::nullopt;
}

Result<std::vector<const Patch*>> move_into_pads(proc::Attachment& attachment,
                                                 std::span<const InterruptedCode> interrupted,
                                                 const PatchIndex& index, bool move_if_blocked) {
  std::vector<const Patch*> blocked;
  std::vector<std::pair<proc::Thread*, TargetAddr>> moves;
  for (proc::Thread& thread : attachment.threads()) {
    const TargetAddr pc(thread.restart_pc());
    if (const Patch* patch = index.disturbed_at(pc)) {
      if (const auto copy = copy_of(*patch, pc)) {
        moves.emplace_back(&thread, *copy);
      } else {
        blocked.push_back(patch);
      }
    }
  }
  for (const InterruptedCode& code : interrupted)
    if (const Patch* patch = index.disturbed_at(code.pc)) blocked.push_back(patch);
  if (!blocked.empty() && !move_if_blocked) return blocked;
  for (auto [thread, copy] : moves) TRY_OK(thread->set_registers(moved(*thread, copy)));
  return blocked;
}

Result<std::vector<TargetAddr>> leave_springboards(StoppedCode& code, const PatchIndex& index,
                                                   const std::optional<std::vector<TargetAddr>>& only) {
  std::vector<TargetAddr> held;
  if (!index.has_springboards() || (only && only->empty())) return held;
  const auto find = [&](TargetAddr pc) {
    const bool there = !only || std::find(only->begin(), only->end(), pc) != only->end();
    return there ? index.springboard_at(pc) : nullptr;
  };
  for (proc::Thread& thread : code.attachment().threads()) {
    if (const Patch* patch = find(TargetAddr(thread.registers.pc())))
      TRY_OK(thread.set_registers(moved(thread, patch->addr)));
  }
  const auto interrupted = code.interrupted();
  if (!interrupted) return only ? *only : index.springboards();  // not known to be elsewhere
  for (const InterruptedCode& one : *interrupted)
    if (find(one.pc)) held.push_back(one.pc);
  return held;
}

Status move_out_of_pads(proc::Attachment& attachment, const Footprint& footprint, const PatchIndex& index) {
  for (proc::Thread& thread : attachment.threads()) {
    const TargetAddr pc(thread.restart_pc());
    if (!footprint.in_pads(pc)) continue;
    if (const auto original = index.original_of(pc)) TRY_OK(thread.set_registers(moved(thread, *original)));
  }
  return {};
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
