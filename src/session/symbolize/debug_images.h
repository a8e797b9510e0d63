// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "probe/code/module.h"

namespace blip::session {

// The images in which the line tables of a module may be: its own file, its separate debug file. Addresses
// are the same in both. They live as long as the module.
std::vector<std::span<const uint8_t>> debug_images(const probe::Module& module);

// The part of its debugging information that dwz has moved elsewhere; empty if there is none, or if it is
// missing.
std::span<const uint8_t> alternate_image(const probe::Module& module);

}  // namespace blip::session
