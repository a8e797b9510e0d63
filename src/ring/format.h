// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "abi/layout.h"

namespace blip::ring {

// Lays out a zeroed data region: the header's geometry fields, ring controls (data_addr as seen by the target
// at `control_addr`), the shared ring with every slot free. Owner, sites, pad areas and stub are the
// caller's. `magic` is stored last, so that a region found by a later blip is whole or unmarked.
void format_region(const abi::Geometry& geometry, uint8_t* region, uint64_t control_addr);

// The geometry's own rules: powers of two, at least two sub-buffers, room for the largest record.
bool is_valid(const abi::Geometry& geometry);

}  // namespace blip::ring
