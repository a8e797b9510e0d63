// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>

#include "jit/emit/emitter.h"

namespace blip::jit {

// Makes the emitter of one action, or of several of one call (Action::call), all in the same frame.
std::unique_ptr<ActionEmitter> make_emitter(std::span<const Emission> emissions);

}  // namespace blip::jit
