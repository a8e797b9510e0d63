// SPDX-License-Identifier: MIT
#include "elf/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>

#include "elf/bytes.h"
#include "machine/elf.h"

namespace blip::elf {
namespace {

Error invalid(const char* what) { return Error(ErrorKind::kInvalid, what); }

// A hostile header must not wrap an address range around.
FileRange range_of(uint64_t begin, uint64_t size) {
  uint64_t end = size > UINT64_MAX - begin ? UINT64_MAX : begin + size;
  return {FileAddr(begin), FileAddr(end)};
}

Status check_ident(std::span<const uint8_t> image) {
  if (image.size() < EI_NIDENT || std::memcmp(image.data(), ELFMAG, SELFMAG) != 0)
    return invalid("not an ELF file");
  if (image[EI_CLASS] == ELFCLASS32)
    return Error(ErrorKind::kUnsupported, "32-bit programs are not supported");
  if (image[EI_CLASS] != ELFCLASS64) return invalid("malformed ELF header");
  if (image[EI_DATA] != ELFDATA2LSB) return Error(ErrorKind::kUnsupported, "not a little-endian program");
  return {};
}

Status check_header(const Elf64_Ehdr& header) {
  if (header.e_machine != machine::kElfMachine)
    return Error(ErrorKind::kUnsupported, fmt::format("not an {} program", machine::kElfMachineName));
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
    return invalid("neither a program nor a shared library");
  if (header.e_phoff == 0 || header.e_phentsize != sizeof(Elf64_Phdr)) return invalid("no program headers");
  return {};
}

Section make_section(const Elf64_Shdr& header, std::string_view name) {
  bool loaded = header.sh_flags & SHF_ALLOC;
  FileRange range = loaded ? range_of(header.sh_addr, header.sh_size) : FileRange{};
  return {name,           header.sh_type, header.sh_flags,  range, FileOffset(header.sh_offset),
          header.sh_size, header.sh_link, header.sh_entsize};
}

void merge_sorted(std::vector<FileRange>& ranges) {
  std::sort(ranges.begin(), ranges.end());
  size_t kept = 0;
  for (const FileRange& range : ranges) {
    if (kept && range.begin <= ranges[kept - 1].end)
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    else
      ranges[kept++] = range;
  }
  ranges.resize(kept);
}

}  // namespace

Result<ElfFile> ElfFile::open(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must not wait for its other end.
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return Error::from_errno(errno, path);
  return from_fd(fd, path);
}

Result<ElfFile> ElfFile::from_fd(const Fd& fd, const std::string& path) {
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) return Error::from_errno(errno, path);
  if (!S_ISREG(info.st_mode)) return invalid("not a regular file").with_context(path);
  if (info.st_size == 0) return invalid("not an ELF file").with_context(path);

  ElfFile file;
  file.path_ = path;
  auto mapping = Mapping::create(static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (!mapping) return mapping.error().with_context(path);
  file.mapping_ = *std::move(mapping);
  file.image_ = file.mapping_.bytes();
  if (auto status = file.parse(); !status) return status.error().with_context(path);
  return file;
}

Result<ElfFile> ElfFile::from_bytes(std::string path, std::vector<uint8_t> image) {
  ElfFile file;
  file.path_ = std::move(path);
  file.owned_ = std::move(image);
  file.image_ = file.owned_;
  if (auto status = file.parse(); !status) return status.error().with_context(file.path_);
  return file;
}

Status ElfFile::parse() {
  TRY_OK(check_ident(image_));
  auto header = load<Elf64_Ehdr>(image_, 0);
  if (!header) return invalid("malformed ELF header");
  TRY_OK(check_header(*header));
  position_independent_ = header->e_type == ET_DYN;
  entry_ = FileAddr(header->e_entry);

  // Section 0 holds the counts that do not fit the header.
  uint64_t segment_count = header->e_phnum, section_count = header->e_shnum, names = header->e_shstrndx;
  auto first = header->e_shoff ? load<Elf64_Shdr>(image_, header->e_shoff) : std::nullopt;
  if (first && segment_count == PN_XNUM) segment_count = first->sh_info;
  if (first && section_count == 0) section_count = first->sh_size;
  if (first && names == SHN_XINDEX) names = first->sh_link;

  TRY_OK(parse_program_headers(header->e_phoff, segment_count));
  if (first && header->e_shentsize == sizeof(Elf64_Shdr))
    parse_sections(header->e_shoff, section_count, names);
  find_code_ranges();
  return {};
}

Status ElfFile::parse_program_headers(uint64_t offset, uint64_t count) {
  if (offset > image_.size() || count > (image_.size() - offset) / sizeof(Elf64_Phdr))
    return invalid("program headers lie outside of the file");
  program_headers_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    auto header = *load<Elf64_Phdr>(image_, offset + i * sizeof(Elf64_Phdr));
    uint64_t in_file = file_bytes(FileOffset(header.p_offset), header.p_filesz).size();
    FileRange range = range_of(header.p_vaddr, header.p_memsz);
    program_headers_.push_back({header.p_type, range, FileOffset(header.p_offset), in_file});
    if (header.p_type != PT_LOAD || range.empty()) continue;
    segments_.push_back({range, FileOffset(header.p_offset), std::min(in_file, range.size()),
                         (header.p_flags & PF_R) != 0, (header.p_flags & PF_W) != 0,
                         (header.p_flags & PF_X) != 0});
  }
  return check_segments();
}

// Overlaps are refused: they would make an address ambiguous, and let a small file pretend to be a huge one.
Status ElfFile::check_segments() {
  std::sort(segments_.begin(), segments_.end(),
            [](const Segment& a, const Segment& b) { return a.range < b.range; });
  uint64_t total = 0;
  for (size_t i = 0; i < segments_.size(); ++i) {
    if (i && segments_[i].range.begin < segments_[i - 1].range.end) return invalid("segments overlap");
    total += segments_[i].filesz;
    if (total > 2 * image_.size()) return invalid("segments share the same bytes of the file");
  }
  if (segments_.empty()) return invalid("no loadable segment");
  return {};
}

void ElfFile::parse_sections(uint64_t offset, uint64_t count, uint64_t names_index) {
  if (offset > image_.size() || count > (image_.size() - offset) / sizeof(Elf64_Shdr)) return;
  auto header_at = [&](uint64_t i) { return load<Elf64_Shdr>(image_, offset + i * sizeof(Elf64_Shdr)); };
  std::span<const uint8_t> names;
  if (names_index < count)
    if (auto header = header_at(names_index))
      names = file_bytes(FileOffset(header->sh_offset), header->sh_size);
  sections_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    auto header = *header_at(i);
    sections_.push_back(make_section(header, c_string(names, header.sh_name)));
  }
}

// Only what the file backs: code cannot be in the zeroes behind it, and a hostile memory size stays harmless.
void ElfFile::find_code_ranges() {
  auto add = [&](FileRange range) {
    const Segment* segment = segment_at(range.begin);
    if (!segment || !segment->exec) return;
    range.end = std::min(range.end, segment->range.begin + segment->filesz);
    if (!range.empty()) code_ranges_.push_back(range);
  };
  constexpr uint64_t kCode = SHF_ALLOC | SHF_EXECINSTR;
  for (const Section& section : sections_)
    if ((section.flags & kCode) == kCode) add(section.range);
  if (code_ranges_.empty())
    for (const Segment& segment : segments_) add(segment.range);
  merge_sorted(code_ranges_);
}

const Section* ElfFile::find_section(std::string_view name) const {
  for (const Section& section : sections_)
    if (section.name == name) return &section;
  return nullptr;
}

const Section* ElfFile::section_at(FileAddr address) const {
  for (const Section& section : sections_)
    if (section.range.contains(address)) return &section;
  return nullptr;
}

const Segment* ElfFile::segment_at(FileAddr address) const {
  auto after = std::upper_bound(segments_.begin(), segments_.end(), address,
                                [](FileAddr a, const Segment& s) { return a < s.range.begin; });
  if (after == segments_.begin() || !std::prev(after)->range.contains(address)) return nullptr;
  return &*std::prev(after);
}

const ProgramHeader* ElfFile::find_program_header(uint32_t type) const {
  for (const ProgramHeader& header : program_headers_)
    if (header.type == type) return &header;
  return nullptr;
}

std::span<const uint8_t> ElfFile::file_bytes(FileOffset offset, uint64_t size) const {
  return clamped(image_, offset.value, size);
}

std::span<const uint8_t> ElfFile::bytes_from(FileAddr address) const {
  const Segment* segment = segment_at(address);
  if (!segment) return {};
  return clamped(file_bytes(segment->offset, segment->filesz), address - segment->range.begin, UINT64_MAX);
}

std::span<const uint8_t> ElfFile::bytes(FileRange range) const {
  if (range.empty()) return {};
  return clamped(bytes_from(range.begin), 0, range.size());
}

std::span<const uint8_t> ElfFile::section_bytes(const Section& section) const {
  if (section.type == SHT_NOBITS || section.type == SHT_NULL) return {};
  return file_bytes(section.offset, section.size);
}

std::optional<FileAddr> ElfFile::address_of(FileOffset offset) const {
  for (const Segment& segment : segments_)
    if (offset >= segment.offset && offset - segment.offset < segment.filesz)
      return segment.range.begin + (offset - segment.offset);
  return std::nullopt;
}

bool ElfFile::is_code(FileAddr address) const {
  auto after = std::upper_bound(code_ranges_.begin(), code_ranges_.end(), address,
                                [](FileAddr a, const FileRange& r) { return a < r.begin; });
  return after != code_ranges_.begin() && std::prev(after)->contains(address);
}

bool ElfFile::is_go() const {
  return find_section(".go.buildinfo") || find_section(".gopclntab") ||
         find_section(".data.rel.ro.gopclntab");
}

}  // namespace blip::elf
