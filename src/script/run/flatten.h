// SPDX-License-Identifier: MIT
#pragma once

#include "script/run/bytecode.h"

namespace blip::script {

// A function of a verified program.
FlatFunction flatten(const Program& program, const Function& function);

}  // namespace blip::script
