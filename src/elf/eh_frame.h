// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "base/addr.h"
#include "elf/bytes.h"
#include "elf/elf_file.h"

namespace blip::elf {

// A frame description entry: the code it is for; where its LSDA is, if exceptions can enter it; and the call
// frame instructions of its CIE and its own, which call_frame.h reads. Views into the file.
struct Frame {
  FileRange range;
  std::optional<FileAddr> lsda;
  std::span<const uint8_t> initial, instructions;
  uint64_t code_alignment = 1;
  int64_t data_alignment = 1;
  bool is_signal_frame = false;  // no function: the way back from signal handlers
};

// Every readable FDE of .eh_frame (found through PT_GNU_EH_FRAME where there are no section headers), in its
// order.
void for_each_frame(const ElfFile& file, const std::function<void(const Frame&)>& visit);

// The same of .debug_frame, if it is not compressed: what code that was built without .eh_frame has.
void for_each_debug_frame(const ElfFile& file, const std::function<void(const Frame&)>& visit);

// A pointer in one of the DW_EH_PE_* encodings. `start` is the address of the reader's first byte. Nothing
// for DW_EH_PE_omit, null, and encodings that x86-64 code does not use (text, data or function relative,
// indirect); those are skipped over all the same.
std::optional<FileAddr> read_encoded_pointer(ByteReader& reader, uint8_t encoding, FileAddr start);

// Only the number, without what it is relative to.
uint64_t read_encoded_value(ByteReader& reader, uint8_t encoding);

}  // namespace blip::elf
