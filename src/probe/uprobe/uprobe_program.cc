// SPDX-License-Identifier: MIT
//   entry = entries[ip]; if (!running[0] || the pid is another || !entry) return 0;
//   counting:   lock ++entry->hits
//   recording:  hit = reserve(ring);
//               if (!hit) { entry->discarded and discarded[0] += entry->events; return 0; }
//               fill, submit
//
// A program may be preempted by another hit on the same CPU, so counters of one CPU need atomic adds too.
#include "probe/uprobe/uprobe_program.h"

#include <fmt/core.h>
#include <sys/sysmacros.h>

#include <cstddef>

#include "machine/kernel_registers.h"
#include "proc/files/pid_namespace.h"

namespace blip::probe {

namespace {

constexpr uint8_t kResult = 0;
constexpr uint8_t kArg1 = 1;
constexpr uint8_t kArg2 = 2;
constexpr uint8_t kArg3 = 3;
constexpr uint8_t kArg4 = 4;
constexpr uint8_t kRegs = 6;   // struct pt_regs, the program's argument
constexpr uint8_t kEntry = 7;  // UprobeEntry
constexpr uint8_t kHit = 8;    // UprobeHit
constexpr uint8_t kFrame = 10;

constexpr int16_t kKey64 = -8;
constexpr int16_t kKey32 = -16;
constexpr int16_t kIds = -24;  // bpf_pidns_info

// The value of map[key at frame + offset]: kResult points to it, or is zero.
void lookup(BpfCode& code, const BpfMap& map, int16_t key) {
  code.move_map(kArg1, map);
  code.move(kArg2, kFrame);
  code.add_value(kArg2, key);
  code.call(BPF_FUNC_map_lookup_elem);
}

void count_discarded(BpfCode& code, uint8_t base, int16_t offset) {
  code.load32(kArg1, kEntry, offsetof(UprobeEntry, events));
  code.atomic_add64(base, offset, kArg1);
}

void leave(BpfCode& code) {
  code.move_value(kResult, 0);  // nobody else wants the event
  code.exit();
}

void discard(BpfCode& code, const UprobeMaps& maps) {
  count_discarded(code, kEntry, offsetof(UprobeEntry, discarded));
  lookup(code, maps.discarded, kKey32);
  const auto none = code.jump_if_zero(kResult);
  count_discarded(code, kResult, 0);
  code.place(none);
  leave(code);
}

// The kernel's name of a namespace's file system is not quite stat(2)'s.
uint64_t kernel_device(dev_t device) {
  constexpr int kKernelMinorBits = 20;
  return uint64_t{major(device)} << kKernelMinorBits | minor(device);
}

// Leaves the thread's ids in the frame; kResult is not zero for one of another namespace.
void get_ids(BpfCode& code, const proc::PidNamespace& ns) {
  code.move_wide(kArg1, kernel_device(ns.device));
  code.move_wide(kArg2, ns.inode);
  code.move(kArg3, kFrame);
  code.add_value(kArg3, kIds);
  code.move_value(kArg4, sizeof(bpf_pidns_info));
  code.call(BPF_FUNC_get_ns_current_pid_tgid);
}

void fill(BpfCode& code, const UprobeProgram& program) {
  code.call(BPF_FUNC_ktime_get_ns);
  code.store64(kHit, offsetof(UprobeHit, time_ns), kResult);
  static_assert(offsetof(UprobeHit, pid) == offsetof(UprobeHit, tid) + offsetof(bpf_pidns_info, tgid));
  code.load64(kArg1, kFrame, kIds);
  code.store64(kHit, offsetof(UprobeHit, tid), kArg1);
  code.load32(kArg1, kEntry, offsetof(UprobeEntry, point));
  code.store32(kHit, offsetof(UprobeHit, point), kArg1);
  code.call(BPF_FUNC_get_smp_processor_id);
  code.store32(kHit, offsetof(UprobeHit, cpu), kResult);
  code.move(kArg1, kHit);
  code.add_value(kArg1, offsetof(UprobeHit, comm));
  code.move_value(kArg2, sizeof UprobeHit::comm);
  code.call(BPF_FUNC_get_current_comm);
  if (!program.registers) return;
  for (size_t i = 0; i < machine::kKernelRegisters.size(); ++i) {
    code.load64(kArg1, kRegs, machine::kKernelRegisters[i]);
    code.store64(kHit, static_cast<int16_t>(offsetof(UprobeHit, registers) + 8 * i), kArg1);
  }
  code.load64(kArg1, kRegs, machine::kKernelFlags);
  code.store64(kHit, offsetof(UprobeHit, flags), kArg1);
}

void record(BpfCode& code, const UprobeProgram& program, const UprobeMaps& maps) {
  code.move_map(kArg1, maps.ring.map());
  code.move_value(kArg2, program.registers ? sizeof(UprobeHit) : offsetof(UprobeHit, registers));
  code.move_value(kArg3, 0);
  code.call(BPF_FUNC_ringbuf_reserve);
  const auto got = code.jump_if_not(kResult, 0);
  discard(code, maps);
  code.place(got);
  code.move(kHit, kResult);
  fill(code, program);
  code.move(kArg1, kHit);
  code.move_value(kArg2, BPF_RB_NO_WAKEUP);  // blip looks by itself
  code.call(BPF_FUNC_ringbuf_submit);
  leave(code);
}

}  // namespace

Result<Fd> load_uprobe_program(const UprobeProgram& program, const UprobeMaps& maps) {
  TRY(const proc::PidNamespace ns, proc::pid_namespace_of(program.pid));
  BpfCode code;
  std::vector<BpfCode::Label> nothing;
  code.move(kRegs, kArg1);
  code.store_value32(kFrame, kKey32, 0);
  code.load64(kArg1, kRegs, machine::kKernelPc);
  code.store64(kFrame, kKey64, kArg1);
  lookup(code, maps.running, kKey32);
  nothing.push_back(code.jump_if_zero(kResult));
  code.load64(kArg1, kResult, 0);
  nothing.push_back(code.jump_if_zero(kArg1));
  get_ids(code, ns);
  nothing.push_back(code.jump_if_not(kResult, 0));
  code.load32(kArg1, kFrame, kIds + static_cast<int16_t>(offsetof(bpf_pidns_info, tgid)));
  nothing.push_back(code.jump_if_not(kArg1, program.ns_pid));
  lookup(code, maps.entries, kKey64);
  nothing.push_back(code.jump_if_zero(kResult));
  code.move(kEntry, kResult);
  if (program.counts) {
    code.move_value(kArg1, 1);
    code.atomic_add64(kEntry, offsetof(UprobeEntry, hits), kArg1);
    leave(code);
  } else {
    record(code, program, maps);
  }
  for (BpfCode::Label label : nothing) code.place(label);
  leave(code);
  return code.load("blip_uprobe", program.attach_type);
}

}  // namespace blip::probe
