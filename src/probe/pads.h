// SPDX-License-Identifier: MIT
// All pads of a trace, laid out in areas near the code they serve. Pure: addresses in, bytes out.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "abi/layout.h"
#include "base/addr.h"
#include "base/result.h"
#include "jit/environment.h"
#include "jit/program.h"
#include "probe/plan.h"
#include "x86/syscall_sites.h"

namespace blip::probe {

// Code that will share an area of pads, because one area can reach it all.
struct Neighbourhood {
  AddrRange reach;                  // where the area may lie
  uint64_t size = 0;                // upper bound of the bytes it needs
  std::vector<size_t> probes;       // indices of probes
  std::vector<size_t> clone_sites;  // indices of clone sites
};

struct Probe {
  size_t module = 0;
  SitePlan site;
  jit::Program program;
};

std::vector<Neighbourhood> group_sites(std::span<const Module> modules, std::span<const Probe> probes,
                                       std::span<const x86::CloneSite> clone_sites);

// One site ready to be patched.
struct Patch {
  static constexpr size_t kNoProbe = SIZE_MAX;

  TargetAddr addr;
  TargetAddr pad;
  uint32_t pad_size = 0;
  uint8_t window = 0;  // bytes that may not be executed in place any more
  std::array<uint8_t, abi::kJumpSize> original{};
  std::array<uint8_t, abi::kJumpSize> jump{};
  std::vector<std::pair<uint8_t, uint16_t>> heads;  // window offset -> pad offset
  size_t probe = kNoProbe;                          // none: a clone site
};

// The five bytes of a jump.
std::array<uint8_t, abi::kJumpSize> jump_to(TargetAddr from, TargetAddr to);

struct BuiltArea {
  std::vector<uint8_t> code;  // from the area's first byte
  std::vector<Patch> patches;
  std::vector<std::pair<size_t, std::string>> refused;  // probe, reason
};

// Fills an area that lies at `at`. A pad that cannot be built refuses its probe only.
Result<BuiltArea> build_area(TargetAddr at, const Neighbourhood& neighbourhood, std::span<const Probe> probes,
                             std::span<const x86::CloneSite> clone_sites, const jit::Environment& env,
                             bool shadow_stack);

}  // namespace blip::probe
