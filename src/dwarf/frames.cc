// SPDX-License-Identifier: MIT
#include "dwarf/frames.h"

#include <dwarf.h>

#include <cstdlib>

#include "dwarf/lines/line_rows.h"

namespace blip::dwarf {

namespace {

constexpr unsigned kRbx = 3, kRbp = 6, kRsp = 7;

Operations cfa_by(Dwarf_CFI* cfi, FileAddr pc) {
  Dwarf_Frame* frame = nullptr;
  if (!cfi || ::dwarf_cfi_addrframe(cfi, pc.value, &frame) != 0) return {};
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  Operations result;
  if (::dwarf_frame_cfa(frame, &ops, &count) == 0) result.assign(ops, ops + count);
  std::free(frame);  // NOLINT: libdw's, made by malloc
  return result;
}

std::optional<FrameTable::Saved> saved_by(Dwarf_CFI* cfi, FileAddr pc, unsigned dwarf_register) {
  Dwarf_Frame* frame = nullptr;
  if (!cfi || ::dwarf_cfi_addrframe(cfi, pc.value, &frame) != 0) return std::nullopt;
  Dwarf_Op memory[3];
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  FrameTable::Saved saved;
  if (::dwarf_frame_register(frame, static_cast<int>(dwarf_register), memory, &ops, &count) == 0) {
    using Kind = FrameTable::Saved::Kind;
    saved.kind = count != 0 ? Kind::kTold : ops ? Kind::kLost : Kind::kUnchanged;
    saved.location.assign(ops, ops + count);
  }
  std::free(frame);  // NOLINT: libdw's, made by malloc
  return saved;
}

bool is_same(const Operations& a, const Operations& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].atom != b[i].atom || a[i].number != b[i].number || a[i].number2 != b[i].number2) return false;
  return true;
}

// The register that the address is some bytes from, in DWARF's numbers.
std::optional<uint64_t> register_of(const Operations& cfa) {
  if (cfa.size() != 1) return std::nullopt;
  if (cfa[0].atom == DW_OP_bregx) return cfa[0].number;
  if (cfa[0].atom >= DW_OP_breg0 && cfa[0].atom <= DW_OP_breg31) return cfa[0].atom - DW_OP_breg0;
  return std::nullopt;
}

// The address where the second line begins, or the line that is marked as the end of the prologue: compilers
// store the arguments before it.
uint64_t end_of_prologue(const Dwarf_Die& unit, uint64_t entry, const Dwarf_Die& function) {
  Dwarf_Lines* lines = nullptr;
  size_t count = 0;
  if (::dwarf_getsrclines(const_cast<Dwarf_Die*>(&unit), &lines, &count) != 0) return entry;
  constexpr uint64_t kFarthest = 4096;
  uint64_t second = 0;
  for (size_t i = entry == 0 ? 0 : rows_up_to(lines, count, entry - 1); i < count; ++i) {
    Dwarf_Line* line = ::dwarf_onesrcline(lines, i);
    Dwarf_Addr address = 0;
    if (::dwarf_lineaddr(line, &address) != 0 || !contains(function, address)) continue;
    bool marked = false, ends = false;
    ::dwarf_lineprologueend(line, &marked);
    ::dwarf_lineendsequence(line, &ends);
    if (ends) break;
    if (marked) return address;
    if (second == 0 && address > entry) second = address;
    if (address > entry + kFarthest) break;
  }
  return second ? second : entry;
}

Operations frame_base_at(const Dwarf_Die& function, FileAddr pc) {
  auto base = attribute(function, DW_AT_frame_base);
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (!base || ::dwarf_getlocation_addr(&*base, pc.value, &ops, &count, 1) != 1) return {};
  return Operations(ops, ops + count);
}

}  // namespace

FrameTable::FrameTable(Elf* program, Dwarf* dwarf)
    : program_(program ? ::dwarf_getcfi_elf(program) : nullptr),
      debug_(dwarf ? ::dwarf_getcfi(dwarf) : nullptr) {}

Operations FrameTable::cfa_at(FileAddr pc) const {
  Operations found = cfa_by(program_.get(), pc);
  return found.empty() ? cfa_by(debug_, pc) : found;
}

FrameTable::Saved FrameTable::saved_at(FileAddr pc, unsigned dwarf_register) const {
  auto saved = saved_by(program_.get(), pc, dwarf_register);
  if (!saved) saved = saved_by(debug_, pc, dwarf_register);
  if (!saved) return {};
  // libdw 0.188 says so of rbx where nothing is told; what nothing is told of, functions leave as it is.
  if (saved->kind == Saved::Kind::kLost && dwarf_register == kRbx) saved->kind = Saved::Kind::kUnchanged;
  return *saved;
}

bool FrameRules::base_is_register() const {
  return frame_base.size() == 1 && frame_base[0].atom != DW_OP_call_frame_cfa;
}

// lea 8(%rsp), %r10; from there on call frame information tells the CFA by it.
bool FrameRules::holds_cfa(unsigned dwarf_register) const {
  constexpr uint64_t kFarthest = 16;  // behind endbr64 and the push of r13
  for (uint64_t at = 1; table && at <= kFarthest; ++at) {
    const Operations rule = table->cfa_at(FileAddr(entry + at));
    if (register_of(rule) != dwarf_register) continue;
    return (rule[0].atom == DW_OP_bregx ? rule[0].number2 : rule[0].number) == 0;
  }
  return false;
}

FrameRules frame_rules(const FrameTable& table, const Dwarf_Die& unit, const Dwarf_Die& function, FileAddr pc,
                       bool is_entry) {
  FrameRules rules;
  rules.table = &table;
  rules.entry = entry_of(function).value_or(0);
  rules.frame_base = frame_base_at(function, pc);
  if (is_entry) {
    rules.in_prologue = true;
    rules.cfa = {{.atom = DW_OP_breg0 + kRsp, .number = sizeof(uint64_t)}};
    return rules;
  }
  constexpr uint64_t kLongestPrologue = 512;
  rules.cfa = table.cfa_at(pc);
  const uint64_t entry = rules.entry;
  const uint64_t end = end_of_prologue(unit, entry, function);
  const bool near = pc.value >= entry && pc.value < entry + kLongestPrologue;
  rules.in_prologue = near && pc.value < end;
  rules.is_body = !rules.in_prologue && is_same(rules.cfa, table.cfa_at(FileAddr(end)));
  if (!rules.base_is_register()) return rules;
  // A register is the base between the prologue and the epilogue, and call frame information tells where that
  // is: there the frame is described by rbp, or as it was when the prologue had ended.
  const uint8_t base = rules.frame_base[0].atom;
  bool is_set_up = !rules.in_prologue;
  if (!rules.cfa.empty() && base == DW_OP_reg0 + kRbp) is_set_up = register_of(rules.cfa) == kRbp;
  if (!rules.cfa.empty() && base == DW_OP_reg0 + kRsp) is_set_up = rules.is_body;
  if (!is_set_up) rules.frame_base.clear();
  return rules;
}

}  // namespace blip::dwarf
