// SPDX-License-Identifier: MIT
// Writes small ELF images for tests: one segment per call of add_segment(), sections over them or beside
// them.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace blip::elf {

class TestImage {
 public:
  explicit TestImage(uint16_t type = ET_DYN) {
    bytes_.resize(kHeaders);
    header_ = {};
    std::memcpy(header_.e_ident, ELFMAG, SELFMAG);
    header_.e_ident[EI_CLASS] = ELFCLASS64;
    header_.e_ident[EI_DATA] = ELFDATA2LSB;
    header_.e_type = type;
    header_.e_machine = EM_X86_64;
    header_.e_phoff = sizeof(Elf64_Ehdr);
    header_.e_phentsize = sizeof(Elf64_Phdr);
    header_.e_shentsize = sizeof(Elf64_Shdr);
    add_section("", SHT_NULL, 0, 0, {});
  }

  Elf64_Ehdr& header() { return header_; }
  std::vector<Elf64_Phdr>& segments() { return segments_; }
  std::vector<Elf64_Shdr>& sections() { return sections_; }

  void add_segment(uint32_t flags, uint64_t address, const std::vector<uint8_t>& content,
                   uint32_t type = PT_LOAD) {
    uint64_t offset = append(content);
    segments_.push_back({type, flags, offset, address, address, content.size(), content.size(), 8});
  }

  // A section whose bytes are part of a segment added before.
  void add_section_at(std::string_view name, uint32_t type, uint64_t flags, uint64_t address, uint64_t size) {
    uint64_t offset = 0;
    for (const Elf64_Phdr& segment : segments_)
      if (address >= segment.p_vaddr && address - segment.p_vaddr <= segment.p_filesz)
        offset = segment.p_offset + (address - segment.p_vaddr);
    sections_.push_back({add_name(name), type, flags | SHF_ALLOC, address, offset, size, 0, 0, 1, 0});
  }

  // A section with bytes of its own; its number is returned.
  uint32_t add_section(std::string_view name, uint32_t type, uint32_t link, uint64_t entry_size,
                       const std::vector<uint8_t>& content) {
    uint64_t offset = append(content);
    sections_.push_back({add_name(name), type, 0, 0, offset, content.size(), link, 0, 8, entry_size});
    return static_cast<uint32_t>(sections_.size() - 1);
  }

  void add_symbol(std::string_view name, unsigned char info, uint64_t value, uint64_t size,
                  uint16_t section = 1) {
    Elf64_Sym symbol{static_cast<Elf64_Word>(symbol_names_.size()), info, STV_DEFAULT, section, value, size};
    put(symbols_, symbol);
    symbol_names_.append(name).push_back('\0');
  }

  template <typename T>
  static void put(std::vector<uint8_t>& out, const T& value) {
    const auto* raw = reinterpret_cast<const uint8_t*>(&value);
    out.insert(out.end(), raw, raw + sizeof(T));
  }

  std::vector<uint8_t> finish() {
    if (!symbols_.empty()) {
      uint32_t names = add_section(".strtab", SHT_STRTAB, 0, 0, {symbol_names_.begin(), symbol_names_.end()});
      add_section(".symtab", SHT_SYMTAB, names, sizeof(Elf64_Sym), symbols_);
    }
    uint32_t name = add_name(".shstrtab");
    uint64_t offset = append({section_names_.begin(), section_names_.end()});
    sections_.push_back({name, SHT_STRTAB, 0, 0, offset, section_names_.size(), 0, 0, 1, 0});
    header_.e_shnum = static_cast<uint16_t>(sections_.size());
    header_.e_shstrndx = static_cast<uint16_t>(sections_.size() - 1);
    header_.e_phnum = static_cast<uint16_t>(segments_.size());
    header_.e_shoff = bytes_.size();
    for (const Elf64_Shdr& section : sections_) put(bytes_, section);
    std::memcpy(bytes_.data(), &header_, sizeof(header_));
    for (size_t i = 0; i < segments_.size(); ++i)
      std::memcpy(bytes_.data() + sizeof(header_) + i * sizeof(Elf64_Phdr), &segments_[i],
                  sizeof(Elf64_Phdr));
    return bytes_;
  }

 private:
  static constexpr size_t kHeaders = 1024;  // the ELF header and room for program headers

  uint64_t append(const std::vector<uint8_t>& content) {
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    bytes_.insert(bytes_.end(), content.begin(), content.end());
    return bytes_.size() - content.size();
  }

  uint32_t add_name(std::string_view name) {
    auto at = static_cast<uint32_t>(section_names_.size());
    section_names_.append(name).push_back('\0');
    return at;
  }

  Elf64_Ehdr header_;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<uint8_t> bytes_, symbols_;
  std::string section_names_, symbol_names_;
};

// The image as sstrip(1) leaves it: the kernel and the loader need no section headers.
inline std::vector<uint8_t> without_section_headers(std::vector<uint8_t> image) {
  for (size_t i = 0; i < sizeof(Elf64_Off); ++i) image.at(offsetof(Elf64_Ehdr, e_shoff) + i) = 0;
  return image;
}

}  // namespace blip::elf
