// SPDX-License-Identifier: MIT
// An LSDA begins (no standard says so; gcc's unwind-c++ and LLVM agree):
//
//     u8 encoding, [pointer LPStart]      what landing pads count from; the function's start when omitted
//     u8 encoding, [uleb128 offset]       type table: not needed here
//     u8 encoding, uleb128 length         call sites: start, length, landing pad (0: none) in the encoding;
//                                         then uleb128 action
#include "elf/landing_pads.h"

#include <dwarf.h>

#include <algorithm>

#include "elf/eh_frame.h"

namespace blip::elf {
namespace {

void read_call_sites(ByteReader& reader, FileAddr base, const ElfFile& file, std::vector<FileAddr>& pads) {
  auto encoding = reader.read<uint8_t>();
  uint64_t length = reader.uleb128();
  uint64_t end = reader.position() + std::min(length, UINT64_MAX - reader.position());
  while (reader.ok() && reader.position() < end) {
    read_encoded_value(reader, encoding);  // start
    read_encoded_value(reader, encoding);  // length
    uint64_t pad = read_encoded_value(reader, encoding);
    reader.uleb128();  // action
    if (reader.ok() && pad != 0 && file.is_code(base + pad)) pads.push_back(base + pad);
  }
}

// Returns the number of bytes of the LSDA.
uint64_t read_lsda(const ElfFile& file, FileAddr lsda, FileAddr function, std::vector<FileAddr>& pads) {
  ByteReader reader(file.bytes_from(lsda));
  auto base_encoding = reader.read<uint8_t>();
  FileAddr base = function;
  if (base_encoding != DW_EH_PE_omit)
    base = read_encoded_pointer(reader, base_encoding, lsda).value_or(FileAddr(0));
  if (reader.read<uint8_t>() != DW_EH_PE_omit) reader.uleb128();
  read_call_sites(reader, base, file, pads);
  return reader.position();
}

}  // namespace

std::vector<FileAddr> landing_pads(const ElfFile& file) {
  std::vector<FileAddr> pads;
  uint64_t total = 0;  // LSDAs do not overlap, except in a file made to keep us busy
  for_each_frame(file, [&](const Frame& frame) {
    if (frame.lsda && total <= file.size()) total += read_lsda(file, *frame.lsda, frame.range.begin, pads);
  });
  std::sort(pads.begin(), pads.end());
  pads.erase(std::unique(pads.begin(), pads.end()), pads.end());
  return pads;
}

std::vector<FileRange> frame_ranges(const ElfFile& file) {
  std::vector<FileRange> ranges;
  for_each_frame(file, [&](const Frame& frame) { ranges.push_back(frame.range); });
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

}  // namespace blip::elf
