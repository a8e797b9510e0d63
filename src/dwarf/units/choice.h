// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "script/ir/ir.h"

namespace blip::dwarf {

// Makes code that gives the value that `cases` has for the value of `key`, and a fault for other values.
// Cases that differ only in constants are computed once, with the constants from a table. If there are too
// many, rare cases are left out; nullopt if nothing is left.
std::optional<script::Code> choose(const script::Code& key,
                                   const std::vector<std::pair<uint64_t, script::Code>>& cases);

}  // namespace blip::dwarf
