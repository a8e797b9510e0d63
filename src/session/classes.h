// SPDX-License-Identifier: MIT
// From what the user asked for to record layouts and programs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ctf/schema.h"
#include "jit/program.h"
#include "probe/resolve.h"
#include "session/options.h"

namespace blip::session {

// Up to here each function has a class of its own; readers take seconds to open tens of thousands.
inline constexpr size_t kMaxOwnClasses = 4096;

struct ClassTable {
  std::vector<ctf::EventClass> classes;  // classes[i].id == i + 1
  std::vector<jit::Program> programs;    // one per function target
};

// Layouts and programs for `targets`; `site_of(i)` is the address recorded as ip for target i. In kTrace mode
// every class carries the tid. Beyond kMaxOwnClasses the functions of one request share a class that carries
// the ip.
ClassTable make_classes(const Options& options, std::span<const probe::FunctionTarget> targets,
                        std::span<const uint64_t> ips);

}  // namespace blip::session
