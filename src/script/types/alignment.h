// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "script/types/type.h"

namespace blip::script {

// The alignment of values of the type in memory. Debugging information tells it only if the source asks for
// one; otherwise it follows from the members.
uint64_t alignment_of(const Type& type);

}  // namespace blip::script
