// SPDX-License-Identifier: MIT
#include "proc/rseq_section.h"

#include <array>

namespace blip::proc {

namespace {

constexpr uint64_t kCurrentSectionOffset = 8;  // struct rseq: u32 cpu_id_start, cpu_id; u64 rseq_cs

// struct rseq_cs of <linux/rseq.h>
struct Section {
  uint32_t version;
  uint32_t flags;
  uint64_t start;
  uint64_t length;
  uint64_t abort;
};

}  // namespace

Status leave_rseq_section(Thread& thread, Memory& memory) {
  const auto config = thread.rseq();
  if (!config || config->area.value == 0) return {};
  const TargetAddr current = config->area + kCurrentSectionOffset;
  TRY(const uint64_t descriptor, memory.read_value<uint64_t>(current));
  if (descriptor == 0) return {};
  const auto section = memory.read_value<Section>(TargetAddr(descriptor));
  if (!section || thread.registers.pc() - section->start >= section->length) return {};
  // Registers first: with the pc outside of the section the kernel takes a left-over pointer for a finished one.
  Registers aborted = thread.registers;
  aborted.set_pc(section->abort);
  TRY_OK(thread.set_registers(aborted));
  constexpr std::array<uint8_t, 8> kNone{};
  return memory.write(current, kNone);
}

}  // namespace blip::proc
