// SPDX-License-Identifier: MIT
#include "dwarf/frames.h"

#include <dwarf.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "dwarf/lines/line_rows.h"
#include "dwarf/stored_arguments.h"
#include "x86/decode.h"
#include "x86/flow/stack_effect.h"

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

uint64_t end_by(Dwarf_CFI* cfi, FileAddr pc) {
  Dwarf_Frame* frame = nullptr;
  if (!cfi || ::dwarf_cfi_addrframe(cfi, pc.value, &frame) != 0) return 0;
  Dwarf_Addr begin = 0, end = 0;
  ::dwarf_frame_info(frame, &begin, &end, nullptr);
  std::free(frame);  // NOLINT: libdw's, made by malloc
  return end > pc.value ? end : 0;
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

// How far the CFA is from a register; nullopt if it is told in another way.
std::optional<int64_t> distance_from(const Operations& cfa, uint64_t dwarf_register) {
  if (register_of(cfa) != dwarf_register) return std::nullopt;
  return static_cast<int64_t>(cfa[0].atom == DW_OP_bregx ? cfa[0].number2 : cfa[0].number);
}

Operations by_register(uint64_t dwarf_register, int64_t distance) {
  const auto atom = static_cast<uint8_t>(DW_OP_breg0 + dwarf_register);
  return {{.atom = atom, .number = static_cast<uint64_t>(distance), .number2 = 0, .offset = 0}};
}

// The same where the first instructions of a function have set up the register.
std::optional<int64_t> first_distance(const FrameTable& table, uint64_t entry, uint64_t dwarf_register) {
  constexpr uint64_t kFarthest = 16;  // behind endbr64 and the push of r13
  for (uint64_t at = 1; at <= kFarthest; ++at)
    if (const auto distance = distance_from(table.cfa_at(FileAddr(entry + at)), dwarf_register))
      return distance;
  return std::nullopt;
}

// The rule for the CFA that holds for most of the code.
Operations usual_cfa(const FrameTable& table, const Dwarf_Die& function, uint64_t entry) {
  constexpr int kMostRules = 1000;
  Dwarf_Addr end = 0;
  if (::dwarf_highpc(const_cast<Dwarf_Die*>(&function), &end) != 0) return {};
  std::vector<std::pair<Operations, uint64_t>> rules;
  uint64_t at = entry;
  for (int i = 0; i < kMostRules && at < end; ++i) {
    const uint64_t next = std::min<uint64_t>(end, table.end_of_rules(FileAddr(at)));
    if (next <= at) break;
    const Operations cfa = table.cfa_at(FileAddr(at));
    auto rule =
        std::find_if(rules.begin(), rules.end(), [&](const auto& r) { return is_same(r.first, cfa); });
    if (rule == rules.end()) rule = rules.insert(rules.end(), {cfa, 0});
    rule->second += next - at;
    at = next;
  }
  const auto most = std::max_element(rules.begin(), rules.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == rules.end() ? Operations() : most->first;
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

// The CFA where the function has its whole frame. What is marked as the prologue need not end there: code is
// mixed with it, and a function may set up its frame only for some of its ways. In a short function the rule
// of a part of the prologue may hold for most of the code.
Operations cfa_of_whole_frame(const FrameTable& table, const Dwarf_Die& unit, const Dwarf_Die& function,
                              uint64_t entry) {
  const Operations usual = usual_cfa(table, function, entry);
  const Operations first = table.cfa_at(FileAddr(end_of_prologue(unit, entry, function)));
  const auto by_usual = distance_from(usual, kRsp), by_first = distance_from(first, kRsp);
  const bool is_deeper = by_usual && (by_first ? *by_first > *by_usual : !first.empty());
  return is_deeper ? first : usual;
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
    : elf_(program),
      program_(program ? ::dwarf_getcfi_elf(program) : nullptr),
      debug_(dwarf ? ::dwarf_getcfi(dwarf) : nullptr) {}

Operations FrameTable::cfa_at(FileAddr pc) const {
  Operations found = cfa_by(program_.get(), pc);
  return found.empty() ? cfa_by(debug_, pc) : found;
}

uint64_t FrameTable::end_of_rules(FileAddr pc) const {
  const uint64_t end = end_by(program_.get(), pc);
  return end ? end : end_by(debug_, pc);
}

std::optional<FrameTable::StackEnd> FrameTable::stack_end(FileAddr pc) const {
  constexpr int kMostInstructions = 16;
  StackEnd end{.is_cut = true};
  auto code = code_at(elf_, pc);
  for (int i = 0; i < kMostInstructions; ++i) {
    if (const auto distance = distance_from(cfa_at(pc), kRsp)) {
      end.below_cfa += *distance;
      return end;
    }
    const auto insn = x86::decode(code, TargetAddr(pc.value));
    if (!insn || insn->flow != x86::Flow::kNext) return std::nullopt;
    const x86::StackEffect effect = x86::stack_effect(code.first(insn->length));
    const auto change = x86::rsp_change(effect);
    if (!change) return std::nullopt;
    end.is_cut &= *change == 0 || effect.kind == x86::StackEffect::Kind::kPop;
    end.below_cfa += *change;
    pc = pc + insn->length;
    code = code.subspan(insn->length);
  }
  return std::nullopt;
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
  return table && first_distance(*table, entry, dwarf_register) == 0;
}

std::optional<int64_t> FrameRules::base_below_cfa() const {
  if (told_base[0].atom == DW_OP_reg0 + kRbp) return first_distance(*table, entry, kRbp);
  return distance_from(cfa_of_whole_frame(*table, unit, function, entry), kRsp);
}

Operations FrameRules::by_cfa_register(std::span<const Dwarf_Op> location) const {
  if (!table || cfa.size() != 1 || told_base.size() != 1) return {};
  const unsigned base = told_base[0].atom - unsigned{DW_OP_reg0};
  if (!register_of(cfa) || (base != kRsp && base != kRbp)) return {};
  const auto is_by_base = [&](const Dwarf_Op& op) {
    return op.atom == DW_OP_fbreg || op.atom == DW_OP_breg0 + base;
  };
  if (std::none_of(location.begin(), location.end(), is_by_base)) return {};
  const auto below = base_below_cfa();
  if (!below || distance_from(cfa, base) == below) return {};
  Operations result(location.begin(), location.end());
  for (Dwarf_Op& op : result) {
    if (!is_by_base(op)) continue;
    op.atom = cfa[0].atom;
    op.number += cfa[0].number - static_cast<uint64_t>(*below);
  }
  return result;
}

void FrameRules::find_stack_end(FileAddr pc) {
  const auto here = distance_from(cfa, kRsp), whole = distance_from(cfa_of_body, kRsp);
  if (here) {
    is_cut = whole ? *here < *whole : *here == sizeof(uint64_t) && !cfa_of_body.empty();
    return;
  }
  const auto end = table && !in_prologue ? table->stack_end(pc) : std::nullopt;
  if (!end) return;
  is_cut = end->is_cut;
  is_body &= !is_cut;
  if (const auto above = distance_from(cfa, kRbp)) rbp_above_rsp = end->below_cfa - *above;
  cfa = by_register(kRsp, end->below_cfa);
}

FrameRules frame_rules(const FrameTable& table, const Dwarf_Die& unit, const Dwarf_Die& function, FileAddr pc,
                       bool is_entry) {
  FrameRules rules;
  rules.table = &table;
  rules.unit = unit;
  rules.function = function;
  rules.entry = entry_of(function).value_or(0);
  rules.frame_base = rules.told_base = frame_base_at(function, pc);
  if (is_entry) {
    rules.in_prologue = true;
    rules.cfa = by_register(kRsp, sizeof(uint64_t));
    return rules;
  }
  constexpr uint64_t kLongestPrologue = 512;
  rules.cfa = table.cfa_at(pc);
  const uint64_t entry = rules.entry;
  const uint64_t end = end_of_prologue(unit, entry, function);
  const bool near = pc.value >= entry && pc.value < entry + kLongestPrologue;
  rules.in_prologue = near && pc.value < end;
  rules.cfa_of_body = cfa_of_whole_frame(table, unit, function, entry);
  rules.is_body = !rules.in_prologue && is_same(rules.cfa, rules.cfa_of_body);
  const auto base_of_cfa = register_of(rules.cfa);
  if (base_of_cfa) rules.cfa = by_register(*base_of_cfa, *distance_from(rules.cfa, *base_of_cfa));
  if (!rules.base_is_register()) return rules;
  // A register is the base between the prologue and the epilogue, and call frame information tells where that
  // is: there the frame is described by rbp, or as it was when the prologue had ended.
  const uint8_t base = rules.frame_base[0].atom;
  bool is_set_up = !rules.in_prologue;
  if (!rules.cfa.empty() && base == DW_OP_reg0 + kRbp) is_set_up = base_of_cfa == kRbp;
  if (!rules.cfa.empty() && base == DW_OP_reg0 + kRsp) is_set_up = rules.is_body;
  if (!is_set_up) rules.frame_base.clear();
  return rules;
}

}  // namespace blip::dwarf
