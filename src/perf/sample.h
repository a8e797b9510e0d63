// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "machine/sampled_registers.h"

namespace blip::perf {

// What a thread was doing when it had used up another period of CPU time. Valid during the call it is given to.
struct Sample {
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  uint32_t pid = 0;      // as blip sees processes
  uint32_t tid = 0;
  uint32_t cpu = 0;
  bool in_kernel = false;      // the registers are those that the thread had when it entered the kernel
  bool has_registers = false;  // a thread that is about to end has none
  uint64_t pc = 0;
  uint64_t flags = 0;
  std::array<uint64_t, machine::kSampledGeneral.size()> general{};  // by the number that instructions encode
  std::span<const uint8_t> stack{};                                 // from the stack pointer on
};

// sample_regs_user: one bit for each register in a Sample.
uint64_t sampled_registers();
// sample_type of events whose records read_sample() reads.
uint64_t sample_type();

// Reads the body of a PERF_RECORD_SAMPLE; nullopt if it is cut short.
std::optional<Sample> read_sample(std::span<const uint8_t> body, bool in_kernel);

}  // namespace blip::perf
