// SPDX-License-Identifier: MIT
#pragma once

#include <Zydis/Zydis.h>

namespace blip::x86 {

// Zydis's, for code of 64 bits; made once.
const ZydisDecoder& decoder();

}  // namespace blip::x86
