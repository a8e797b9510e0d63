// SPDX-License-Identifier: MIT
// Where the instructions of a function begin. Each text is the part of a sentence behind the name.
#pragma once

#include <string>

#include "base/addr.h"
#include "elf/symbols.h"
#include "probe/module.h"

namespace blip::probe {

inline constexpr char kNoSize[] = "the function has size zero: where it ends is not known";

// Why the function's instructions are not all known: decoded one after the other from its first byte, some
// bytes are none. Empty if they are. Compilers for x86-64 put nothing but instructions between a function's
// first and last byte; hand-written code may.
std::string undecodable(const Module& module, const elf::Function& function);

// Why no instruction of the function begins at the address, which is inside of it: "inside \"mov %rsp,%rbp\",
// which begins at NAME+0x4". Empty if one does.
std::string not_an_instruction(const Module& module, const elf::Function& function, FileAddr address);

}  // namespace blip::probe
