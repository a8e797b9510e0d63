// SPDX-License-Identifier: MIT
// A double as a float, with the operations there are: integers.
#pragma once

#include "script/ir/builder.h"

namespace blip::script {

// The bits of the float that is nearest to the double whose bits are `value`; ties go to the even one. Not a
// number: the quiet one.
uint32_t narrow(Builder& builder, uint32_t value);

}  // namespace blip::script
