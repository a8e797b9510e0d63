// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "elf/spec.h"
#include "probe/code/module.h"
#include "probe/code/resolve.h"
#include "session/plan/line_points.h"
#include "session/plan/options.h"
#include "session/plan/refusal.h"

namespace blip::session {

struct AllInstructions {
  std::vector<ModulePoint> points;  // by module, then by address; each address once
  std::vector<Refusal> refused;     // functions whose bytes are not all instructions
};

// Every instruction of the functions that match, their cold parts included; for the pattern * also of those
// that have no name. An error (kUsage) where they are many more than `most`: a large program has tens of
// millions.
Result<AllInstructions> find_all_instructions(const elf::Spec& spec, std::span<const probe::Module> modules,
                                              const probe::ResolveContext& context, size_t most);

// The functions those are of, by module and address.
Result<std::vector<probe::FunctionTarget>> functions_with_parts(const elf::Spec& spec,
                                                                std::span<const probe::Module> modules,
                                                                const probe::ResolveContext& context);

}  // namespace blip::session
