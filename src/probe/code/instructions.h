// SPDX-License-Identifier: MIT
// Finds where the instructions of a function begin. Each text is the part of a sentence behind the name.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/addr.h"
#include "elf/symbols.h"
#include "probe/code/module.h"

namespace blip::probe {

inline constexpr char kNoSize[] = "the function has size zero: where it ends is not known";

// Why the function's instructions are not all known: decoded one after the other from its first byte, some
// bytes are none. Empty if they are. Compilers for x86-64 put nothing but instructions between a function's
// first and last byte; hand-written code may.
std::string undecodable(const Module& module, const elf::Function& function);

// Knows where the instructions of functions begin. Each function is decoded once, when somebody asks. The
// modules must outlive it.
class InstructionStarts {
 public:
  struct Found {
    FileAddr begin;        // of the instruction that holds the address
    bool is_known = true;  // else what is at `begin` is no instruction
  };

  Found around(const Module& module, const elf::Function& function, FileAddr address);

 private:
  struct Decoded {
    std::vector<uint32_t> offsets;  // from the function's first byte
    uint64_t end = 0;               // of the last of them
  };

  std::map<std::tuple<const void*, FileAddr, uint64_t>, Decoded> functions_;  // by file, address, size
};

// Why no instruction of the function begins at the address, which is inside of it: "inside \"mov %rsp,%rbp\",
// which begins at NAME+0x4". Empty if one does.
std::string not_an_instruction(const Module& module, const elf::Function& function, FileAddr address,
                               InstructionStarts& starts);

}  // namespace blip::probe
