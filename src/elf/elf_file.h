// SPDX-License-Identifier: MIT
// One x86-64 ELF file, mapped, with its headers checked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/addr.h"
#include "base/fd.h"
#include "base/mapping.h"
#include "base/result.h"

namespace blip::elf {

// A PT_LOAD program header. `filesz` bytes at `offset` are in the file (cut at the file's end); the rest is
// zeroes.
struct Segment {
  FileRange range;  // by memory size
  FileOffset offset;
  uint64_t filesz = 0;
  bool read = false;
  bool write = false;
  bool exec = false;
};

struct Section {
  std::string_view name;
  uint32_t type = 0;   // SHT_*
  uint64_t flags = 0;  // SHF_*
  FileRange range;     // empty unless the section is loaded (SHF_ALLOC)
  FileOffset offset;
  uint64_t size = 0;
  uint32_t link = 0;  // sh_link: index of the string or symbol table
  uint64_t entsize = 0;
};

// A whole program header, for the few that are not PT_LOAD.
struct ProgramHeader {
  uint32_t type = 0;  // PT_*
  FileRange range;
  FileOffset offset;
  uint64_t filesz = 0;
};

// Promises: whatever the file contains, no accessor reads outside of it, and all views stay valid as long as
// the ElfFile (or what it was moved to) lives. Section headers that are missing or broken count as absent, as
// they do for the kernel.
class ElfFile {
 public:
  // Regular files only. kUnsupported: 32-bit, another machine; kInvalid: not an ELF program or library, or
  // malformed.
  static Result<ElfFile> open(const std::string& path);
  // The same for what is open already; `path` is only its name.
  static Result<ElfFile> from_fd(const Fd& fd, const std::string& path);
  // The same for an image in memory (the vDSO, tests); `path` is only its name.
  static Result<ElfFile> from_bytes(std::string path, std::vector<uint8_t> image);

  ElfFile(ElfFile&&) noexcept = default;
  ElfFile& operator=(ElfFile&&) noexcept = default;

  const std::string& path() const { return path_; }
  bool is_position_independent() const { return position_independent_; }
  FileAddr entry() const { return entry_; }
  // Sorted by address, never overlapping.
  std::span<const Segment> segments() const { return segments_; }
  // In the file's order, the null section included, so that an index is a section number.
  std::span<const Section> sections() const { return sections_; }

  const Section* find_section(std::string_view name) const;
  const Section* section_at(FileAddr address) const;
  const Segment* segment_at(FileAddr address) const;
  const ProgramHeader* find_program_header(uint32_t type) const;

  // The file's bytes behind an address range of one segment: shorter, or empty, where the file does not back
  // it.
  std::span<const uint8_t> bytes(FileRange range) const;
  // All bytes from an address to the end of its segment's part in the file.
  std::span<const uint8_t> bytes_from(FileAddr address) const;
  // Length of the file.
  uint64_t size() const { return image_.size(); }
  // Empty for SHT_NOBITS; cut at the end of the file.
  std::span<const uint8_t> section_bytes(const Section& section) const;
  std::span<const uint8_t> file_bytes(FileOffset offset, uint64_t size) const;

  std::optional<FileAddr> address_of(FileOffset offset) const;
  // The ranges that may hold instructions, sorted and merged: the executable sections, or the executable
  // segments of a file without section headers.
  std::span<const FileRange> code_ranges() const { return code_ranges_; }
  bool is_code(FileAddr address) const;

  // Lower-case hex, or empty.
  std::string build_id() const;
  // The range in which a process that has loaded the file holds the id; nullopt if it is not loaded.
  std::optional<FileRange> build_id_range() const;
  bool is_go() const;

  // Pages of a mapped file that were read no longer count as blip's memory, until they are read again from
  // the page cache.
  void release_pages() const { mapping_.release_pages(); }

 private:
  ElfFile() = default;

  Status parse();
  Status parse_program_headers(uint64_t offset, uint64_t count);
  Status check_segments();
  void parse_sections(uint64_t offset, uint64_t count, uint64_t names_index);
  void find_code_ranges();

  std::string path_;
  Mapping mapping_;
  std::vector<uint8_t> owned_;
  std::span<const uint8_t> image_;
  bool position_independent_ = false;
  FileAddr entry_;
  std::vector<ProgramHeader> program_headers_;
  std::vector<Segment> segments_;
  std::vector<Section> sections_;
  std::vector<FileRange> code_ranges_;
};

}  // namespace blip::elf
