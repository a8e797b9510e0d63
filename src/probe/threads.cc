// SPDX-License-Identifier: MIT
#include "probe/threads.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace blip::probe {

namespace {

// struct rt_sigframe (arch/x86/include/asm/sigframe.h): the restorer's address, then struct ucontext whose
// mcontext begins after uc_flags, uc_link and uc_stack; rsp and rip are its 16th and 17th word, cs the low
// part of the 19th.
constexpr uint64_t kFrameRsp = 8 + 40 + 15 * 8;
constexpr uint64_t kFrameRip = kFrameRsp + 8;
constexpr uint64_t kFrameCs = kFrameRip + 2 * 8;
constexpr uint16_t kUserCs = 0x33;
constexpr std::array<uint8_t, 9> kRestorer = {0x48, 0xc7, 0xc0, 0x0f, 0,
                                              0,    0,    0x0f, 0x05};  // mov $15,%rax; syscall
constexpr uint64_t kRedZone = 128;
constexpr uint64_t kMaxStack = 8 << 20;
constexpr uint64_t kSyscallSize = 2;

uint64_t word_at(const std::vector<uint8_t>& bytes, uint64_t offset) {
  uint64_t word;
  std::memcpy(&word, &bytes[offset], sizeof word);
  return word;
}

bool is_restorer(const proc::Memory& memory, TargetAddr at) {
  std::array<uint8_t, kRestorer.size()> code;
  return memory.read(at, code) && code == kRestorer;
}

// Signal frames of one thread, on whatever stacks they lie.
class FrameFinder {
 public:
  FrameFinder(const proc::Memory& memory, std::span<const proc::Map> maps) : memory_(memory), maps_(maps) {}

  // Fails if a stack cannot be searched: then anything may be on it.
  Result<std::vector<TargetAddr>> run(uint64_t rsp) {
    stacks_.push_back(rsp);
    for (size_t i = 0; i < stacks_.size() && i < kMaxStacks; ++i) TRY_OK(search(stacks_[i]));
    return std::move(pcs_);
  }

 private:
  static constexpr size_t kMaxStacks = 16;  // alternate stacks on top of each other

  Status search(uint64_t rsp) {
    const proc::Map* map = proc::find_map(maps_, TargetAddr(rsp));
    if (!map) return {};  // nothing can have been pushed there
    const TargetAddr begin = std::max(TargetAddr((rsp - kRedZone) & ~uint64_t{7}), map->range.begin);
    std::vector<uint8_t> stack(std::min(map->range.end - begin, kMaxStack));
    TRY_OK(memory_.read(begin, stack));
    searched_.push_back({begin, begin + stack.size()});
    for (uint64_t at = 0; at + kFrameCs + 8 <= stack.size(); at += 8) {
      if (!is_frame(stack, at)) continue;
      pcs_.push_back(TargetAddr(word_at(stack, at + kFrameRip)));
      add_stack(word_at(stack, at + kFrameRsp));
    }
    return {};
  }

  bool is_frame(const std::vector<uint8_t>& stack, uint64_t at) {
    if (static_cast<uint16_t>(word_at(stack, at + kFrameCs)) != kUserCs) return false;
    const TargetAddr restorer(word_at(stack, at));
    if (restorer == known_restorer_) return true;
    const proc::Map* map = proc::find_map(maps_, restorer);
    if (!map || !map->exec || !is_restorer(memory_, restorer)) return false;
    known_restorer_ = restorer;
    return true;
  }

  // The interrupted code ran on a stack of its own: more frames may be there.
  void add_stack(uint64_t rsp) {
    for (const AddrRange& r : searched_)
      if (r.contains(TargetAddr(rsp))) return;
    stacks_.push_back(rsp);
  }

  const proc::Memory& memory_;
  std::span<const proc::Map> maps_;
  std::vector<uint64_t> stacks_;
  std::vector<AddrRange> searched_;
  std::vector<TargetAddr> pcs_;
  TargetAddr known_restorer_{};
};

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

Result<std::vector<TargetAddr>> signal_frame_pcs(const proc::Thread& thread, const proc::Memory& memory,
                                                 std::span<const proc::Map> maps) {
  return FrameFinder(memory, maps).run(thread.registers.rsp);
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
    if (!check_signal_frames) continue;
    TRY(const std::vector<TargetAddr> pcs, signal_frame_pcs(thread, memory, maps));
    for (TargetAddr interrupted : pcs)
      if (const Patch* patch = index.inside_window(interrupted)) blocked.push_back(patch);
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
  for (proc::Thread& thread : attachment.threads()) {
    if (footprint.in_pads(TargetAddr(thread.registers.rip))) return std::optional(thread.tid);
    if (!check_signal_frames) continue;
    auto pcs = signal_frame_pcs(thread, memory, maps);
    if (!pcs) return std::optional(thread.tid);  // not known to be outside
    for (TargetAddr pc : *pcs)
      if (footprint.in_pads(pc)) return std::optional(thread.tid);
  }
  return std::optional<pid_t>();
}

Status forget_descriptors(proc::Attachment& attachment, proc::Memory& memory, const Footprint& footprint) {
  constexpr uint64_t kRseqCs = 8;  // struct rseq
  for (proc::Thread& thread : attachment.threads()) {
    auto config = thread.rseq();
    if (!config || config->area == TargetAddr()) continue;
    TRY(const uint64_t descriptor, memory.read_value<uint64_t>(config->area + kRseqCs));
    if (!footprint.in_pads(TargetAddr(descriptor))) continue;
    const uint64_t none = 0;
    TRY_OK(memory.write(config->area + kRseqCs, {reinterpret_cast<const uint8_t*>(&none), sizeof none}));
  }
  return {};
}

}  // namespace blip::probe
