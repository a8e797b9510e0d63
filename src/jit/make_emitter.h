// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>

#include "jit/emit/emitter.h"

namespace blip::jit {

// Makes the emitter of one program, or of several of one call (Program::call), all in the same frame.
std::unique_ptr<ProgramEmitter> make_emitter(std::span<const Emission> emissions);

}  // namespace blip::jit
