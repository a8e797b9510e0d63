// SPDX-License-Identifier: MIT
#include "elf/rseq_sections.h"

#include <cstddef>

#include "elf/bytes.h"
#include "elf/relocations.h"

namespace blip::elf {
namespace {

// struct rseq_cs of <linux/rseq.h>, which every C library wraps differently.
struct Descriptor {
  uint32_t version;
  uint32_t flags;
  uint64_t start_ip;
  uint64_t post_commit_offset;
  uint64_t abort_ip;
};
static_assert(sizeof(Descriptor) == 32);

std::vector<Descriptor> descriptors(std::span<const uint8_t> bytes) {
  std::vector<Descriptor> result;
  for (uint64_t at = 0; at + sizeof(Descriptor) <= bytes.size(); at += sizeof(Descriptor))
    result.push_back(*load<Descriptor>(bytes, at));
  return result;
}

// In a position-independent file the pointers are the loader's to fill.
void relocate(const ElfFile& file, const Section& section, std::vector<Descriptor>& list) {
  for_each_stored_pointer(file, [&](StoredPointer pointer) {
    if (!section.range.contains(pointer.place)) return;
    uint64_t at = pointer.place - section.range.begin;
    if (at / sizeof(Descriptor) >= list.size()) return;
    Descriptor& descriptor = list[at / sizeof(Descriptor)];
    if (at % sizeof(Descriptor) == offsetof(Descriptor, start_ip)) descriptor.start_ip = pointer.value.value;
    if (at % sizeof(Descriptor) == offsetof(Descriptor, abort_ip)) descriptor.abort_ip = pointer.value.value;
  });
}

}  // namespace

std::vector<RseqSection> rseq_sections(const ElfFile& file) {
  const Section* section = file.find_section("__rseq_cs");
  if (!section) return {};
  std::vector<Descriptor> list = descriptors(file.section_bytes(*section));
  relocate(file, *section, list);
  std::vector<RseqSection> result;
  for (const Descriptor& descriptor : list) {
    RseqSection found{FileAddr(descriptor.start_ip), descriptor.post_commit_offset,
                      FileAddr(descriptor.abort_ip)};
    if (file.is_code(found.start) && file.is_code(found.abort) && found.length != 0) result.push_back(found);
  }
  return result;
}

}  // namespace blip::elf
