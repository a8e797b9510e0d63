// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "elf/alternate_file.h"
#include "elf/cfa_rules.h"
#include "elf/code_pointers.h"
#include "elf/debug_link.h"
#include "elf/jump_tables.h"
#include "elf/landing_pads.h"
#include "elf/marks.h"
#include "elf/mini_debug.h"
#include "elf/relocations.h"
#include "elf/rseq_sections.h"
#include "elf/symbols.h"

namespace blip::elf {

inline std::span<const uint8_t> head(std::span<const uint8_t> bytes) {
  return bytes.first(std::min<size_t>(bytes.size(), 4096));
}

// All that blip ever asks of a file. The sum keeps the optimizer from dropping the reads.
inline uint64_t read_everything(const std::vector<uint8_t>& image) {
  auto file = ElfFile::from_bytes("hostile", image);
  if (!file) return 0;
  uint64_t sum = file->build_id().size() + file->is_go() + file->segments().size();
  for (const Section& section : file->sections())
    for (uint8_t byte : head(file->section_bytes(section))) sum += byte + section.name.size();
  for (const Segment& segment : file->segments())
    for (uint8_t byte : head(file->bytes(segment.range))) sum += byte;
  if (auto symbols = SymbolTable::load(*file)) {
    for (const Function& function : symbols->functions()) sum += function.name.size() + function.size;
    sum += symbols->object("_thread_db_pthread_tid").value_or(1);
    if (const Function* function = symbols->function_at(file->entry())) sum += function->size;
  }
  if (auto link = debug_link(*file)) sum += link->name.size() + file_crc(*file);
  if (auto link = alternate_link(*file)) sum += link->path.size() + link->build_id.size();
  if (auto inner = mini_debug_file(*file); inner && *inner) sum += (*inner)->size();
  if (auto range = file->build_id_range()) sum += file->bytes(*range).size();
  for_each_function_slot(*file, [&](const FunctionSlot& slot) { sum += slot.symbol.size(); });
  sum += landing_pads(*file).size() + frame_ranges(*file).size() + code_pointers(*file).size();
  CfaTable frames(*file);
  for (const FileRange& range : frame_ranges(*file))
    if (const auto found = frames.rows_at(range.begin)) sum += found->rows.size();
  sum += table_starts(*file).size() + read_marks(*file).size();
  return sum + jump_table_targets(*file).size() + rseq_sections(*file).size();
}

}  // namespace blip::elf
