// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "script/types/scope.h"

namespace blip::script {

// Says where a value is, for people: "rdi", "stack [rsp+0x10]", "memory 0x4040", "constant 7", "optimized
// out"; "computed" where it takes more than a few words.
std::string place_text(const Place& place);

}  // namespace blip::script
