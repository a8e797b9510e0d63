// SPDX-License-Identifier: MIT
// Several values in one text, as maps have them: numbers of 8 bytes, and texts with their length in front.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "script/blocks/library.h"
#include "state/types.h"

namespace blip::bt {

std::string pack(const std::vector<state::ValueType>& types, const script::Argument* values);
// Empty if the text does not fit.
std::vector<script::Argument> unpack(const std::vector<state::ValueType>& types, std::string_view text);

}  // namespace blip::bt
