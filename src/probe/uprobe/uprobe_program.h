// SPDX-License-Identifier: MIT
// The program that runs in the kernel at the hit of a uprobe.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/fd.h"
#include "base/result.h"
#include "machine/kernel_registers.h"
#include "probe/uprobe/bpf.h"

namespace blip::probe {

// One hit, as the program puts it into the ring. Without registers it ends before them.
struct UprobeHit {
  uint64_t time_ns;  // CLOCK_MONOTONIC
  int32_t tid;       // as the thread sees itself
  int32_t pid;
  uint32_t point;
  uint32_t cpu;
  char comm[16];
  uint64_t registers[machine::kKernelRegisters.size()];  // in encoding order
  uint64_t flags;
};
static_assert(sizeof(UprobeHit) == 48 + sizeof(UprobeHit::registers));

// The counters of one probed address, which is the map's key.
struct UprobeEntry {
  uint64_t hits = 0;       // while counting
  uint64_t discarded = 0;  // events that got no room in the ring
  uint32_t point = 0;      // its number
  uint32_t events = 1;     // that come of one hit: several probes may lie at one address
};

struct UprobeMaps {
  BpfMap entries;    // u64 address -> UprobeEntry
  BpfMap running;    // [0]: u64, hits do nothing while it is 0
  BpfMap discarded;  // [0]: u64 per CPU, events
  BpfRing ring;      // of UprobeHit; empty while counting
};

struct UprobeProgram {
  bool counts = false;
  bool registers = false;  // some probe wants them
  pid_t pid = 0;     // the process: hits of its threads count, not those of children that share its memory
  pid_t ns_pid = 0;  // the same as it sees itself
  uint32_t attach_type = 0;
};

Result<Fd> load_uprobe_program(const UprobeProgram& program, const UprobeMaps& maps);

}  // namespace blip::probe
