// SPDX-License-Identifier: MIT
#include "dwarf/handles.h"

namespace blip::dwarf {

Result<Handles> open_dwarf(std::span<const uint8_t> image) {
  ::elf_version(EV_CURRENT);
  Handles handles;
  // libelf takes a pointer to what it may change, and changes nothing of a file it only reads.
  char* bytes = reinterpret_cast<char*>(const_cast<uint8_t*>(image.data()));
  handles.elf.reset(::elf_memory(bytes, image.size()));
  if (!handles.elf) return Error(ErrorKind::kNotFound, "not an ELF file");
  handles.dwarf.reset(::dwarf_begin_elf(handles.elf.get(), DWARF_C_READ, nullptr));
  if (!handles.dwarf) return Error(ErrorKind::kNotFound, ::dwarf_errmsg(-1));
  return handles;
}

}  // namespace blip::dwarf
