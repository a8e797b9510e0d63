// SPDX-License-Identifier: MIT
// What the command line needs to know of filters.
#pragma once

#include "jit/filter.h"

namespace blip::session {

using jit::Filter;
using jit::parse_filter;

}  // namespace blip::session
