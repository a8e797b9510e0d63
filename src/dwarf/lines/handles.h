// SPDX-License-Identifier: MIT
// Owners of what libelf and libdw hand out. Only for this folder.
#pragma once

#include <elfutils/libdw.h>
#include <libelf.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace blip::dwarf {

struct CloseElf {
  void operator()(Elf* elf) const { ::elf_end(elf); }
};
struct CloseDwarf {
  void operator()(Dwarf* dwarf) const { ::dwarf_end(dwarf); }
};

struct Handles {
  std::unique_ptr<Handles> alternate;  // what dwz has put apart: closed last
  std::vector<uint8_t> copy;           // what libelf may write to, where it wants to
  std::unique_ptr<Elf, CloseElf> elf;
  std::unique_ptr<Dwarf, CloseDwarf> dwarf;
};

// The whole ELF file, which must outlive the handles. kNotFound: it has no debugging information.
// `alternate`: the file that its .gnu_debugaltlink names, if it was found; libdw never looks for it by
// itself.
Result<Handles> open_dwarf(std::span<const uint8_t> image, std::span<const uint8_t> alternate = {});

// The same without asking for debugging information: `dwarf` stays null.
Result<Handles> open_elf_file(std::span<const uint8_t> image);

}  // namespace blip::dwarf
