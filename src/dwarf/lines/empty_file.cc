// SPDX-License-Identifier: MIT
#include "dwarf/lines/empty_file.h"

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <string_view>

#include "machine/elf.h"

namespace blip::dwarf {

namespace {

using namespace std::string_view_literals;
constexpr std::string_view kNames = "\0.shstrtab\0.debug_info\0.debug_abbrev\0"sv;

}  // namespace

std::vector<uint8_t> empty_debug_file() {
  struct File {
    Elf64_Ehdr header{};
    Elf64_Shdr sections[4]{};
    char names[kNames.size()]{};
    uint8_t nothing[16]{};
  } file;
  std::memcpy(file.header.e_ident, ELFMAG, SELFMAG);
  file.header.e_ident[EI_CLASS] = ELFCLASS64;
  file.header.e_ident[EI_DATA] = ELFDATA2LSB;
  file.header.e_ident[EI_VERSION] = EV_CURRENT;
  file.header.e_type = ET_DYN;
  file.header.e_machine = machine::kElfMachine;
  file.header.e_version = EV_CURRENT;
  file.header.e_ehsize = sizeof(Elf64_Ehdr);
  file.header.e_shoff = offsetof(File, sections);
  file.header.e_shentsize = sizeof(Elf64_Shdr);
  file.header.e_shnum = 4;
  file.header.e_shstrndx = 1;
  const auto put = [&](int index, uint32_t type, size_t name, uint64_t offset, uint64_t size) {
    file.sections[index].sh_type = type;
    file.sections[index].sh_name = static_cast<uint32_t>(name);
    file.sections[index].sh_offset = offset;
    file.sections[index].sh_size = size;
    file.sections[index].sh_addralign = 1;
  };
  put(1, SHT_STRTAB, kNames.find(".shstrtab"), offsetof(File, names), kNames.size());
  put(2, SHT_PROGBITS, kNames.find(".debug_info"), offsetof(File, nothing), sizeof(file.nothing));
  put(3, SHT_PROGBITS, kNames.find(".debug_abbrev"), offsetof(File, nothing), sizeof(file.nothing));
  std::memcpy(file.names, kNames.data(), kNames.size());
  std::vector<uint8_t> bytes(sizeof(file));
  std::memcpy(bytes.data(), &file, sizeof(file));
  return bytes;
}

}  // namespace blip::dwarf
