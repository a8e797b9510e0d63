// SPDX-License-Identifier: MIT
// Where the instructions of a function begin.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/addr.h"
#include "elf/symbols.h"
#include "probe/module.h"

namespace blip::probe {

// Decoded one after the other from the function's first byte. Compilers for x86-64 put nothing but
// instructions between a function's first and last byte; hand-written code may.
struct Instructions {
  std::vector<FileAddr> starts;
  std::optional<FileAddr> undecodable;  // from here on the bytes are no instructions
};

Instructions instructions_of(const Module& module, const elf::Function& function);

// Why no instruction of the function begins at the address, which is inside of it: "inside \"mov %rsp,%rbp\",
// which begins at NAME+0x4". Empty if one does.
std::string not_an_instruction(const Module& module, const elf::Function& function, FileAddr address);

}  // namespace blip::probe
