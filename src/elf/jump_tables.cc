// SPDX-License-Identifier: MIT
// A switch in position-independent code:
//
//     48 8d 15 xx xx xx xx   lea table(%rip), %rdx      REX.W 8D /r, mod = 00, rm = 101
//     48 63 04 82            movslq (%rdx,%rax,4), %rax
//     48 01 d0               add %rdx, %rax
//     ff e0                  jmp *%rax
//
// table: .long case0 - table, case1 - table, ...
//
// Every such lea at any byte offset names a table; it lasts as long as table + entry is code, and to the next
// table: compilers lay tables out one behind the other, and reading the next one's entries from this one's
// start would give addresses at random.
#include "elf/jump_tables.h"

#include <algorithm>
#include <cstring>

#include "elf/address_set.h"
#include "elf/bytes.h"

namespace blip::elf {
namespace {

constexpr uint64_t kLeaSize = 7;
constexpr uint64_t kMaxEntries = 16384;

bool is_lea_rip(const uint8_t* bytes) {
  bool rex_w = (bytes[0] & 0xf8) == 0x48;
  bool rip_relative = (bytes[2] & 0xc7) == 0x05;
  return rex_w && bytes[1] == 0x8d && rip_relative;
}

// Targets of all lea in one stretch of code. memchr finds the opcode byte; it is much faster than looking at
// each.
void find_lea_targets(std::span<const uint8_t> code, FileAddr begin, std::vector<FileAddr>& targets) {
  if (code.size() < kLeaSize) return;
  const uint8_t* last = code.data() + code.size() - (kLeaSize - 1);  // where the last opcode byte can be
  const uint8_t* opcode = code.data() + 1;
  while (opcode <= last) {
    opcode = static_cast<const uint8_t*>(std::memchr(opcode, 0x8d, static_cast<size_t>(last - opcode) + 1));
    if (!opcode) return;
    if (is_lea_rip(opcode - 1)) {
      int32_t distance;
      std::memcpy(&distance, opcode + 2, sizeof(distance));
      uint64_t next = begin.value + static_cast<uint64_t>(opcode - 1 - code.data()) + kLeaSize;
      targets.push_back(FileAddr(next + static_cast<uint64_t>(int64_t{distance})));
    }
    ++opcode;
  }
}

// op table(,index,8), reg: jmp or mov with a SIB byte that has no base, and the address in 32 bits.
bool is_absolute_table(const uint8_t* bytes) {
  const bool jump = bytes[0] == 0xff && bytes[1] == 0x24;
  const bool load = bytes[0] == 0x8b && (bytes[1] & 0xc7) == 0x04;
  return (jump || load) && (bytes[2] & 0xc7) == 0xc5;
}

void find_absolute_tables(std::span<const uint8_t> code, std::vector<FileAddr>& tables) {
  for (size_t i = 0; i + 7 <= code.size(); ++i)
    if (is_absolute_table(&code[i])) tables.push_back(FileAddr(*load<uint32_t>(code, i + 3)));
}

std::vector<FileAddr> lea_targets(const ElfFile& file) {
  std::vector<FileAddr> targets;
  for (const FileRange& range : file.code_ranges()) find_lea_targets(file.bytes(range), range.begin, targets);
  return targets;
}

void make_set(std::vector<FileAddr>& addresses) {
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
}

std::vector<FileAddr> possible_tables(const ElfFile& file) {
  std::vector<FileAddr> targets = lea_targets(file);
  std::erase_if(targets, [&](FileAddr table) {
    const Segment* segment = file.segment_at(table);
    return table.value % 4 != 0 || !segment || segment->write;
  });
  make_set(targets);
  return targets;
}

void add_entries(std::span<const uint8_t> entries, FileAddr table, CodeAddressSet& found) {
  for (uint64_t at = 0; at + 4 <= entries.size(); at += 4) {
    int32_t distance;
    std::memcpy(&distance, entries.data() + at, sizeof(distance));
    if (!found.add(table + static_cast<uint64_t>(int64_t{distance}))) return;
  }
}

}  // namespace

std::vector<FileAddr> table_starts(const ElfFile& file) {
  std::vector<FileAddr> starts = lea_targets(file);
  if (!file.is_position_independent())
    for (const FileRange& range : file.code_ranges()) find_absolute_tables(file.bytes(range), starts);
  make_set(starts);
  return starts;
}

std::vector<FileAddr> jump_table_targets(const ElfFile& file) {
  std::vector<FileAddr> tables = possible_tables(file);
  CodeAddressSet found(file);
  for (size_t i = 0; i < tables.size(); ++i) {
    uint64_t size = kMaxEntries * 4;
    if (i + 1 < tables.size()) size = std::min(size, tables[i + 1] - tables[i]);
    add_entries(clamped(file.bytes_from(tables[i]), 0, size), tables[i], found);
  }
  return found.sorted();
}

}  // namespace blip::elf
