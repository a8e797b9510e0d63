// SPDX-License-Identifier: MIT
// Programs as text, for tests, --explain and files. docs/design/blocks.md has an example.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "script/blocks/blocks.h"

namespace blip::script {

std::string print(const Program& program);
std::string print(const Program& program, const Function& function);

// kInvalid: "line 3: ...". It finds what is no program of this form; verify() finds what is no valid one.
// print() of the result says the same as `text`.
Result<Program> parse_program(std::string_view text);

}  // namespace blip::script
