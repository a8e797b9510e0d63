// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "script/ir/ir.h"

namespace blip::dwarf {

// Code that gives what `cases` have for the value of `key`, and a fault for other values. What differs in
// constants only is computed once, with the constants from a table. Rare ones are left out if there are too
// many; none: nothing is left.
std::optional<script::Code> choose(const script::Code& key,
                                   const std::vector<std::pair<uint64_t, script::Code>>& cases);

}  // namespace blip::dwarf
