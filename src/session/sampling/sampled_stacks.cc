// SPDX-License-Identifier: MIT
#include "session/sampling/sampled_stacks.h"

#include <cstring>
#include <utility>

#include "machine/registers.h"
#include "unwind/walk.h"

namespace blip::session {

namespace {

// Words of a copy that begins at `low`.
struct CopiedStack {
  uint64_t low;
  std::span<const uint8_t> bytes;

  abi::SafeWord read(uint64_t address) const {
    const uint64_t at = address - low;
    if (address < low || bytes.size() < sizeof(uint64_t) || at > bytes.size() - sizeof(uint64_t))
      return {0, 0};
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    return {word, 1};
  }
};

Result<Mapping> memory(uint64_t size) {
  return Mapping::create(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

}  // namespace

Result<std::unique_ptr<SampledStacks>> SampledStacks::create(std::span<const probe::Module> modules,
                                                             std::optional<probe::Module> vdso) {
  std::unique_ptr<SampledStacks> self(new SampledStacks(modules, std::move(vdso)));
  TRY(self->arena_, memory(self->tables_.room()));
  TRY(self->stacks_, memory(UnwindTables::kStacks.bytes()));
  const auto stacks_here = reinterpret_cast<uint64_t>(self->stacks_.data());
  TRY_OK(self->tables_.fill({self->arena_.bytes(), TargetAddr(stacks_here), self->stacks_.bytes(), {}}));
  return self;
}

unwind::Stack SampledStacks::walk(const perf::Sample& sample, uint32_t depth) const {
  unwind::Stack stack;
  if (!sample.has_registers) {
    stack.end = abi::UnwindEnd::kUnreadable;
    if (sample.pc != 0) stack.frames.push_back({TargetAddr(sample.pc), false});
    return stack;
  }
  const machine::RegisterSet& set = machine::host().registers;
  const uint64_t sp = sample.general[set.stack_pointer];
  const unwind::Registers at{.rip = sample.pc, .rsp = sp, .rbp = sample.general[set.frame_pointer]};
  stack.end =
      unwind::walk(arena_.data(), at, false, depth, CopiedStack{sp, sample.stack}, [&](uint64_t frame) {
        const bool is_first = stack.frames.empty();
        const bool is_interrupted = is_first || (frame & abi::kInterrupted) != 0;
        stack.frames.push_back({TargetAddr(frame & ~abi::kInterrupted), !is_interrupted});
      });
  return stack;
}

}  // namespace blip::session
