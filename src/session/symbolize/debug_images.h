// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "probe/code/module.h"

namespace blip::session {

// Where the line tables of a module may be: its own file, its separate debug file. Addresses are the same in
// both. They live as long as the module.
std::vector<std::span<const uint8_t>> debug_images(const probe::Module& module);

// What dwz has put apart of its debugging information; empty: nothing, or it is not there.
std::span<const uint8_t> alternate_image(const probe::Module& module);

}  // namespace blip::session
