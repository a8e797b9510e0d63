// SPDX-License-Identifier: MIT
#include "unwind/expression.h"

#include <dwarf.h>

#include "elf/bytes.h"
#include "elf/call_frame.h"

namespace blip::unwind {

namespace {

// DW_OP_breg0 + n.
bool read_register(elf::ByteReader& reader, MemoryPlace& place) {
  const auto op = reader.read<uint8_t>();
  if (op < DW_OP_breg0 || op > DW_OP_breg31) return false;
  place.dwarf_register = op - DW_OP_breg0;
  place.offset = reader.sleb128();
  return reader.ok();
}

bool next_is(elf::ByteReader& reader, uint8_t op) { return reader.read<uint8_t>() == op && reader.ok(); }

}  // namespace

std::optional<MemoryPlace> as_place(std::span<const uint8_t> expression) {
  elf::ByteReader reader(expression);
  MemoryPlace place;
  if (!read_register(reader, place)) return std::nullopt;
  if (reader.at_end()) return place;
  if (!next_is(reader, DW_OP_deref)) return std::nullopt;
  place.deref = true;
  if (reader.at_end()) return place;
  if (!next_is(reader, DW_OP_plus_uconst)) return std::nullopt;
  place.add = static_cast<int64_t>(reader.uleb128());
  return reader.ok() && reader.at_end() ? std::optional(place) : std::nullopt;
}

std::optional<PltPlace> as_plt(std::span<const uint8_t> expression) {
  elf::ByteReader reader(expression);
  MemoryPlace rsp, rip;
  if (!read_register(reader, rsp) || rsp.dwarf_register != elf::kDwarfRsp) return std::nullopt;
  if (!read_register(reader, rip) || rip.dwarf_register != elf::kDwarfRip || rip.offset != 0)
    return std::nullopt;
  if (!next_is(reader, DW_OP_lit15) || !next_is(reader, DW_OP_and)) return std::nullopt;
  const auto from = reader.read<uint8_t>();
  if (from < DW_OP_lit0 || from > DW_OP_lit15) return std::nullopt;
  for (const uint8_t op : {DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus})
    if (!next_is(reader, op)) return std::nullopt;
  return reader.at_end() ? std::optional(PltPlace{rsp.offset, from - DW_OP_lit0}) : std::nullopt;
}

}  // namespace blip::unwind
