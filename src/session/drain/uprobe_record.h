// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "jit/program/action.h"
#include "probe/uprobe/uprobe_program.h"

namespace blip::session {

// Puts into `record` what a pad with the action would have recorded at the hit.
void fill_record(std::vector<uint8_t>& record, const jit::Action& action, const probe::UprobeHit& hit);

}  // namespace blip::session
