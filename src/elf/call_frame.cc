// SPDX-License-Identifier: MIT
// Call frame instructions (DWARF 5, 6.4.2). Rules for registers other than rbp and the return address are
// skipped.
#include "elf/call_frame.h"

#include <dwarf.h>

namespace blip::elf {
namespace {

constexpr size_t kMostStates = 64;     // remembered at a time
constexpr uint64_t kMostRows = 65536;  // of one frame

using Where = SavedRegister::Where;

class Interpreter {
 public:
  explicit Interpreter(const Frame& frame) : frame_(frame) {
    now_.begin = frame.range.begin;
    rows_.push_back(now_);
  }

  // Empty: something in it was not understood.
  std::vector<CallFrameRow> run() {
    if (!execute(frame_.initial)) return {};
    initial_ = now_;
    if (!execute(frame_.instructions)) return {};
    return std::move(rows_);
  }

 private:
  bool execute(std::span<const uint8_t> instructions) {
    instructions_ = instructions;
    ByteReader reader(instructions);
    while (!reader.at_end())
      if (!step(reader) || !reader.ok() || rows_.size() > kMostRows) return false;
    return true;
  }

  bool advance(uint64_t count) {
    now_.begin = now_.begin + count * frame_.code_alignment;
    return true;
  }

  int64_t factored(int64_t n) const {  // may overflow in a hostile file
    return static_cast<int64_t>(static_cast<uint64_t>(n) * static_cast<uint64_t>(frame_.data_alignment));
  }

  bool changed() {
    if (rows_.back().begin == now_.begin)
      rows_.back() = now_;
    else
      rows_.push_back(now_);
    return true;
  }

  bool set_cfa(const CfaDefinition& cfa) {
    now_.cfa = cfa;
    return changed();
  }

  bool set_saved(uint64_t dwarf_register, const SavedRegister& saved) {
    SavedRegister* followed = this->followed(now_, dwarf_register);
    if (!followed) return true;
    *followed = saved;
    return changed();
  }

  bool set_initial(uint64_t dwarf_register) {
    const SavedRegister* first = followed(initial_, dwarf_register);
    return !first || set_saved(dwarf_register, *first);
  }

  static SavedRegister* followed(CallFrameRow& row, uint64_t dwarf_register) {
    if (dwarf_register == kDwarfRbp) return &row.rbp;
    return dwarf_register == kDwarfRip ? &row.rip : nullptr;
  }

  std::span<const uint8_t> expression(ByteReader& reader) const {
    const uint64_t size = reader.uleb128(), at = reader.position();
    reader.skip(size);
    return reader.ok() ? instructions_.subspan(at, size) : std::span<const uint8_t>();
  }

  bool remember() {
    if (states_.size() == kMostStates) return false;
    states_.push_back(now_);
    return true;
  }

  bool restore() {
    if (states_.empty()) return false;
    const FileAddr here = now_.begin;
    now_ = states_.back();
    now_.begin = here;
    states_.pop_back();
    return changed();
  }

  bool step(ByteReader& reader) {
    const auto opcode = reader.read<uint8_t>();
    const uint64_t low = opcode & 0x3f;
    switch (opcode & 0xc0) {
      case DW_CFA_advance_loc:
        return advance(low);
      case DW_CFA_offset:
        return set_saved(low, {Where::kAtCfa, factored(static_cast<int64_t>(reader.uleb128())), {}});
      case DW_CFA_restore:
        return set_initial(low);
    }
    return extended(opcode, reader);
  }

  bool extended(uint8_t opcode, ByteReader& reader) {
    switch (opcode) {
      case DW_CFA_nop:
        return true;
      case DW_CFA_advance_loc1:
        return advance(reader.read<uint8_t>());
      case DW_CFA_advance_loc2:
        return advance(reader.read<uint16_t>());
      case DW_CFA_advance_loc4:
        return advance(reader.read<uint32_t>());
      case DW_CFA_remember_state:
        return remember();
      case DW_CFA_restore_state:
        return restore();
      case DW_CFA_GNU_args_size:
        return reader.uleb128(), true;
      default:
        return of_cfa(opcode, reader) || of_register(opcode, reader);
    }
  }

  bool of_cfa(uint8_t opcode, ByteReader& reader) {
    switch (opcode) {
      case DW_CFA_def_cfa: {
        const uint64_t base = reader.uleb128();
        return set_cfa({base, static_cast<int64_t>(reader.uleb128()), {}});
      }
      case DW_CFA_def_cfa_sf: {
        const uint64_t base = reader.uleb128();
        return set_cfa({base, factored(reader.sleb128()), {}});
      }
      case DW_CFA_def_cfa_register:
        return set_cfa({reader.uleb128(), now_.cfa.offset, {}});
      case DW_CFA_def_cfa_offset:
        return set_cfa({now_.cfa.dwarf_register, static_cast<int64_t>(reader.uleb128()), {}});
      case DW_CFA_def_cfa_offset_sf:
        return set_cfa({now_.cfa.dwarf_register, factored(reader.sleb128()), {}});
      case DW_CFA_def_cfa_expression:
        return set_cfa({UINT64_MAX, 0, expression(reader)});
      default:
        return false;
    }
  }

  bool of_register(uint8_t opcode, ByteReader& reader) {
    if (!is_of_register(opcode)) return false;
    const uint64_t which = reader.uleb128();
    switch (opcode) {
      case DW_CFA_restore_extended:
        return set_initial(which);
      case DW_CFA_undefined:
        return set_saved(which, {Where::kUndefined, 0, {}});
      case DW_CFA_same_value:
        return set_saved(which, {Where::kSame, 0, {}});
      case DW_CFA_offset_extended:
        return set_saved(which, {Where::kAtCfa, factored(static_cast<int64_t>(reader.uleb128())), {}});
      case DW_CFA_offset_extended_sf:
        return set_saved(which, {Where::kAtCfa, factored(reader.sleb128()), {}});
      case DW_CFA_GNU_negative_offset_extended:
        return set_saved(which, {Where::kAtCfa, factored(-static_cast<int64_t>(reader.uleb128())), {}});
      case DW_CFA_expression:
        return set_saved(which, {Where::kAt, 0, expression(reader)});
      case DW_CFA_val_expression:
        return expression(reader), set_saved(which, {Where::kElsewhere, 0, {}});
      default:  // DW_CFA_register, DW_CFA_val_offset, DW_CFA_val_offset_sf
        return reader.uleb128(), set_saved(which, {Where::kElsewhere, 0, {}});
    }
  }

  static bool is_of_register(uint8_t opcode) {
    switch (opcode) {
      case DW_CFA_restore_extended:
      case DW_CFA_undefined:
      case DW_CFA_same_value:
      case DW_CFA_offset_extended:
      case DW_CFA_offset_extended_sf:
      case DW_CFA_GNU_negative_offset_extended:
      case DW_CFA_expression:
      case DW_CFA_val_expression:
      case DW_CFA_register:
      case DW_CFA_val_offset:
      case DW_CFA_val_offset_sf:
        return true;
      default:
        return false;
    }
  }

  const Frame& frame_;
  std::span<const uint8_t> instructions_;
  CallFrameRow now_, initial_;
  std::vector<CallFrameRow> rows_, states_;
};

}  // namespace

std::vector<CallFrameRow> call_frame_rows(const Frame& frame) { return Interpreter(frame).run(); }

}  // namespace blip::elf
