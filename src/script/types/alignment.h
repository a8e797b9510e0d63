// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "script/types/type.h"

namespace blip::script {

// Where values of the type lie in memory: a multiple of it. Debugging information tells only what was asked
// for, the rest follows from the members.
uint64_t alignment_of(const Type& type);

}  // namespace blip::script
