// SPDX-License-Identifier: MIT
// A note of type 3 by "stapsdt": three addresses (the nop; where the linker had put .stapsdt.base; the
// semaphore or 0), then three strings (provider, name, operands). Tools that move a linked file (prelink) do
// not look into notes: the addresses in them move by as much as .stapsdt.base has.
#include "elf/marks.h"

#include <elf.h>

#include <algorithm>
#include <tuple>

#include "elf/bytes.h"

namespace blip::elf {
namespace {

constexpr uint32_t kMarkNote = 3;
constexpr std::string_view kOwner = "stapsdt";
constexpr uint64_t kSemaphoreSize = 2;

uint64_t padded(uint64_t size) { return (size + 3) & ~uint64_t{3}; }

class MarkReader {
 public:
  explicit MarkReader(const ElfFile& file) : file_(file), base_(file.find_section(".stapsdt.base")) {}

  // Notes follow each other: header, owner, descriptor, the latter two padded to 4 bytes.
  void read(std::span<const uint8_t> notes) {
    for (uint64_t at = 0;;) {
      const auto note = load<Elf64_Nhdr>(notes, at);
      if (!note) return;
      const uint64_t owner = at + sizeof(Elf64_Nhdr);
      const uint64_t descriptor = owner + padded(note->n_namesz);
      if (note->n_type == kMarkNote && c_string(notes, owner) == kOwner)
        add(clamped(notes, descriptor, note->n_descsz));
      at = descriptor + padded(note->n_descsz);
    }
  }

  std::vector<Mark> take() {
    std::sort(marks_.begin(), marks_.end(), [](const Mark& a, const Mark& b) {
      return std::tie(a.place, a.provider, a.name, a.operands, a.semaphore) <
             std::tie(b.place, b.provider, b.name, b.operands, b.semaphore);
    });
    marks_.erase(std::unique(marks_.begin(), marks_.end()), marks_.end());
    return std::move(marks_);
  }

 private:
  void add(std::span<const uint8_t> descriptor) {
    ByteReader reader(descriptor);
    const auto place = reader.read<uint64_t>(), base = reader.read<uint64_t>();
    const auto semaphore = reader.read<uint64_t>();
    Mark mark;
    mark.provider = reader.c_string();
    mark.name = reader.c_string();
    mark.operands = reader.c_string();
    // The third string may miss its end: then there are no operands.
    if (mark.provider.empty() || mark.name.empty()) return;
    const uint64_t moved = base_ && base != 0 ? base_->range.begin.value - base : 0;
    mark.place = FileAddr(place + moved);
    if (!file_.is_code(mark.place)) return;
    if (semaphore != 0) mark.semaphore = writable(FileAddr(semaphore + moved));
    marks_.push_back(std::move(mark));
  }

  std::optional<FileAddr> writable(FileAddr address) const {
    const Segment* segment = file_.segment_at(address);
    const bool fits = segment && segment->write && segment->range.end - address >= kSemaphoreSize;
    return fits ? std::optional(address) : std::nullopt;
  }

  const ElfFile& file_;
  const Section* base_;
  std::vector<Mark> marks_;
};

}  // namespace

std::vector<Mark> read_marks(const ElfFile& file) {
  MarkReader reader(file);
  for (const Section& section : file.sections())
    if (section.type == SHT_NOTE) reader.read(file.section_bytes(section));
  return reader.take();
}

std::optional<uint64_t> thread_block_size(const ElfFile& file) {
  const auto headers = file.file_bytes(FileOffset(0), file.size());
  const auto header = load<Elf64_Ehdr>(headers, 0);
  for (uint64_t i = 0; header && i < header->e_phnum; ++i) {
    const auto part = load<Elf64_Phdr>(headers, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!part || part->p_type != PT_TLS) continue;
    const uint64_t rest = part->p_align == 0 ? 0 : part->p_memsz % part->p_align;
    return part->p_memsz + (rest == 0 ? 0 : part->p_align - rest);
  }
  return std::nullopt;
}

}  // namespace blip::elf
