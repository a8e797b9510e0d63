// SPDX-License-Identifier: MIT
#include "dwarf/lines/handles.h"

#include <gelf.h>

#include <string_view>

#include "dwarf/lines/empty_file.h"

namespace blip::dwarf {

namespace {

// True if some section fits, judged by its name and header.
template <typename Is>
bool has_section(Elf* elf, Is is) {
  size_t names = 0;
  if (::elf_getshdrstrndx(elf, &names) != 0) return false;
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (!::gelf_getshdr(section, &header)) continue;
    const char* name = ::elf_strptr(elf, names, header.sh_name);
    if (is(std::string_view(name ? name : ""), header)) return true;
  }
  return false;
}

// Debug packages hold their sections compressed.
bool has_compressed_section(Elf* elf) {
  return has_section(elf, [](std::string_view name, const GElf_Shdr& header) {
    return (header.sh_flags & SHF_COMPRESSED) != 0 || name.starts_with(".zdebug");
  });
}

bool names_alternate(Elf* elf) {
  return has_section(elf,
                     [](std::string_view name, const GElf_Shdr&) { return name == ".gnu_debugaltlink"; });
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

namespace {

std::unique_ptr<Handles> open_alternate(std::span<const uint8_t> image) {
  if (!image.empty())
    if (auto opened = open_dwarf(image)) return std::make_unique<Handles>(*std::move(opened));
  auto empty = std::make_unique<Handles>();
  empty->copy = empty_debug_file();
  empty->elf.reset(open_elf(empty->copy.data(), empty->copy.size()));
  if (empty->elf) empty->dwarf.reset(::dwarf_begin_elf(empty->elf.get(), DWARF_C_READ, nullptr));
  return empty->dwarf ? std::move(empty) : nullptr;
}

}  // namespace

// libdw would look for the other file by itself, wherever this one says: a path that the target has chosen.
Result<Handles> open_dwarf(std::span<const uint8_t> image, std::span<const uint8_t> alternate) {
  TRY(Handles handles, open_elf_file(image));
  handles.dwarf.reset(::dwarf_begin_elf(handles.elf.get(), DWARF_C_READ, nullptr));
  if (!handles.dwarf) return Error(ErrorKind::kNotFound, ::dwarf_errmsg(-1));
  if (!names_alternate(handles.elf.get())) return handles;
  handles.alternate = open_alternate(alternate);
  if (!handles.alternate) return Error(ErrorKind::kNotFound, "a part of it is in another file");
  ::dwarf_setalt(handles.dwarf.get(), handles.alternate->dwarf.get());
  return handles;
}

}  // namespace blip::dwarf
