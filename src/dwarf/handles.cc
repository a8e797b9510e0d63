// SPDX-License-Identifier: MIT
#include "dwarf/handles.h"

#include <gelf.h>

#include <string_view>

namespace blip::dwarf {

namespace {

// Debug packages hold their sections compressed.
bool has_compressed_section(Elf* elf) {
  size_t names = 0;
  if (::elf_getshdrstrndx(elf, &names) != 0) return false;
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (!::gelf_getshdr(section, &header)) continue;
    if (header.sh_flags & SHF_COMPRESSED) return true;
    const char* name = ::elf_strptr(elf, names, header.sh_name);
    if (name && std::string_view(name).starts_with(".zdebug")) return true;
  }
  return false;
}

Elf* open_elf(const uint8_t* bytes, size_t size) {
  return ::elf_memory(reinterpret_cast<char*>(const_cast<uint8_t*>(bytes)), size);
}

}  // namespace

// libelf takes a pointer to what it may change. It changes nothing of a file it only reads, except where it
// expands a section: then the section's header is overwritten, and a mapping that is read-only would fault.
Result<Handles> open_elf_file(std::span<const uint8_t> image) {
  ::elf_version(EV_CURRENT);
  Handles handles;
  handles.elf.reset(open_elf(image.data(), image.size()));
  if (handles.elf && has_compressed_section(handles.elf.get())) {
    handles.copy.assign(image.begin(), image.end());
    handles.elf.reset(open_elf(handles.copy.data(), handles.copy.size()));
  }
  if (!handles.elf) return Error(ErrorKind::kNotFound, "not an ELF file");
  return handles;
}

Result<Handles> open_dwarf(std::span<const uint8_t> image) {
  TRY(Handles handles, open_elf_file(image));
  handles.dwarf.reset(::dwarf_begin_elf(handles.elf.get(), DWARF_C_READ, nullptr));
  if (!handles.dwarf) return Error(ErrorKind::kNotFound, ::dwarf_errmsg(-1));
  return handles;
}

}  // namespace blip::dwarf
