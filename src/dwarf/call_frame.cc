// SPDX-License-Identifier: MIT
// One step outwards:
//
//     the probe's frame    registers as they are; CFI at the pc gives the CFA and the places of the caller's
//                          registers
//     return address       the word below the CFA: one of the calls that lead here, known from the code
//     the caller's frame   rsp is the CFA; registers that calls preserve are where CFI says; all others are
//                          lost; DW_AT_call_value, computed from these, is the argument that was passed
//
// A value that the caller says by its own entry (DW_OP_entry_value again) takes another step.
#include "dwarf/call_frame.h"

#include <dwarf.h>

#include <algorithm>

#include "dwarf/debug_data.h"
#include "dwarf/debug_info.h"
#include "dwarf/stored_arguments.h"
#include "dwarf/units/choice.h"
#include "machine/registers.h"
#include "x86/decode.h"

namespace blip::dwarf {

using script::Op;
using script::Place;

namespace {

constexpr unsigned kRegisters = 16, kRsp = 7;
constexpr unsigned kPreserved[] = {3, 6, 12, 13, 14, 15};  // rbx, rbp, r12 to r15
constexpr int kMostSteps = 5;
constexpr size_t kMostCallers[] = {1000, 200, 60, 20, 12};  // at each step
constexpr int kMostQuestions = 4000;                        // to callers, of one frame's values

CallFrame::Registers as_they_are() {
  CallFrame::Registers registers;
  for (unsigned i = 0; i < kRegisters; ++i)
    registers[i].emplace().add(
        {.op = Op::kRegister, .value = *machine::find_dwarf_register(machine::host().registers, i)});
  return registers;
}

// The general registers, in DWARF's numbers, that a function without calls leaves as they were: what its caller
// had there when it called is there still. gcc counts on that (-fipa-ra). r10 and r11 may be changed on the way.
std::vector<unsigned> untouched_registers(DebugData& debug_data, const Dwarf_Die& function) {
  constexpr unsigned kPassedOn[] = {0, 1, 2, 4, 5, 8, 9};  // rax, rdx, rcx, rsi, rdi, r8, r9
  const auto entry = entry_of(function);
  Dwarf_Addr end = 0;
  if (!entry || ::dwarf_highpc(const_cast<Dwarf_Die*>(&function), &end) != 0 || end <= *entry) return {};
  auto code = code_at(debug_data.program(), FileAddr(*entry));
  if (code.size() < end - *entry) return {};
  code = code.first(end - *entry);
  uint16_t changed = 0;
  for (uint64_t at = *entry; !code.empty();) {
    const auto insn = x86::decode(code, TargetAddr(at));
    const bool goes_elsewhere = !insn || insn->flow == x86::Flow::kCall ||
                                insn->flow == x86::Flow::kIndirectCall || insn->flow == x86::Flow::kSyscall ||
                                insn->flow == x86::Flow::kOther;
    if (goes_elsewhere) return {};
    changed |= insn->registers_changed;
    at += insn->length;
    code = code.subspan(insn->length);
  }
  std::vector<unsigned> result;
  for (const unsigned reg : kPassedOn)
    if (!(changed >> *machine::find_dwarf_register(machine::host().registers, reg) & 1))
      result.push_back(reg);
  return result;
}

script::Code loaded(script::Code code, uint64_t distance) {
  auto at = static_cast<uint32_t>(code.nodes.size() - 1);
  if (distance != 0) at = code.add({.op = Op::kAdd, .a = at, .b = code.constant(distance)});
  code.add({.op = Op::kLoad, .a = at});
  return code;
}

// The value, or a fault if the word leads elsewhere: another definition may have been called, which has ended
// with a jump to this one.
script::Code if_slot_is(uint64_t slot, uint64_t function, script::Code value) {
  const auto result = static_cast<uint32_t>(value.nodes.size() - 1);
  const uint32_t leads_to = value.add({.op = Op::kLoad, .a = value.constant(slot)});
  value.tables.push_back({{function, 0}});
  const uint32_t nothing = value.add({.op = Op::kLookup, .a = leads_to, .value = value.tables.size() - 1});
  value.add({.op = Op::kAdd, .a = result, .b = nothing});
  return value;
}

}  // namespace

CallFrame::CallFrame(const Code& code)
    : CallFrame(code, as_they_are(), 0, std::make_shared<int>(kMostQuestions)) {}

std::optional<script::Code> CallFrame::general(unsigned dwarf_register) {
  return dwarf_register < kRegisters ? registers_[dwarf_register] : std::nullopt;
}

std::optional<script::Code> CallFrame::at_entry(const EntryOperand& what) {
  const std::pair<unsigned, const void*> key{what.in_register.value_or(UINT32_MAX),
                                             what.parameter ? what.parameter->addr : nullptr};
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  known_[key] = std::nullopt;  // what asks for itself is not known
  return known_[key] = search(what);
}

std::optional<script::Code> CallFrame::search(const EntryOperand& what) {
  if (depth_ >= kMostSteps || code_.debug_data->calls().may_become_itself(code_.function))
    return std::nullopt;
  const auto entry = entry_of(code_.function);
  if (!entry) return std::nullopt;
  const std::vector<Caller> all = callers(FileAddr(*entry));
  if (all.empty() || all.size() > kMostCallers[depth_] || !unwind()) return std::nullopt;
  std::vector<std::pair<uint64_t, script::Code>> cases;
  for (const Caller& caller : all)
    if (auto value = passed_by(caller, what))
      cases.emplace_back(caller.behind.value + caller.load_bias,
                         caller.slot ? if_slot_is(*caller.slot, *entry + code_.load_bias, std::move(*value))
                                     : std::move(*value));
  return choose(return_address_, cases);
}

std::vector<CallFrame::Caller> CallFrame::callers(FileAddr entry) {
  std::vector<Caller> result;
  const CallIndex& index = code_.debug_data->calls().index();
  add_callers(index.calls_of(entry), {.debug_data = code_.debug_data, .load_bias = code_.load_bias}, result);
  if (!code_.callers) return result;
  for (const CallingModule& other : code_.callers(entry)) {
    DebugData& debug_data = other.info->debug_data();
    const Caller like{
        .debug_data = &debug_data, .load_bias = other.load_bias, .slot = other.slot.value + other.load_bias};
    add_callers(debug_data.calls().index().calls_by(other.slot), like, result);
  }
  return result;
}

void CallFrame::add_callers(const std::vector<FileAddr>& calls, const Caller& like,
                            std::vector<Caller>& all) {
  for (const FileAddr behind : calls)
    if (const auto site = like.debug_data->calls().returning_to(behind)) {
      all.push_back(like);
      all.back().behind = behind;
      all.back().site = *site;
    }
}

std::optional<script::Code> CallFrame::passed_by(const Caller& caller, const EntryOperand& what) {
  auto value = passed_value(caller.site, what);
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (!value || ::dwarf_getlocation(&*value, &ops, &count) != 0 || count == 0) return std::nullopt;
  if (--*questions_ < 0) return std::nullopt;
  CallFrame frame({.debug_data = caller.debug_data,
                   .load_bias = caller.load_bias,
                   .function = caller.site.function,
                   .pc = FileAddr(caller.behind.value - 1)},
                  unwound_, depth_ + 1, questions_);
  return frame.value(Operations(ops, ops + count), &*value);
}

std::optional<script::Code> CallFrame::value(const Operations& operations, Dwarf_Attribute* attribute) {
  const bool asks_frame = std::any_of(operations.begin(), operations.end(), [](const Dwarf_Op& op) {
    return op.atom == DW_OP_fbreg || op.atom == DW_OP_call_frame_cfa;
  });
  FrameRules rules;
  if (asks_frame)
    rules = frame_rules(code_.debug_data->frames(), code_.debug_data->unit_of(code_.function).unit(),
                        code_.function, code_.pc, /*is_entry=*/false);
  const ExpressionSurroundings surroundings{.load_bias = code_.load_bias,
                                            .tls_offset = std::nullopt,
                                            .frame_base = &rules.frame_base,
                                            .cfa = &rules.cfa,
                                            .frame = this};
  return Expression(surroundings, attribute).value(operations);
}

bool CallFrame::unwind() {
  if (is_unwound_) return *is_unwound_;
  is_unwound_ = false;
  cfa_ = code_.debug_data->frames().cfa_at(code_.pc);
  const ExpressionSurroundings surroundings{
      .load_bias = code_.load_bias, .tls_offset = std::nullopt, .cfa = &cfa_, .frame = this};
  const auto cfa = Expression(surroundings, nullptr).value(cfa_);
  if (!cfa) return false;
  return_address_ = loaded(*cfa, 0 - sizeof(uint64_t));
  unwound_[kRsp] = *cfa;
  for (const unsigned reg : kPreserved) {
    const FrameTable::Saved saved = code_.debug_data->frames().saved_at(code_.pc, reg);
    if (saved.kind == FrameTable::Saved::Kind::kUnchanged) unwound_[reg] = registers_[reg];
    if (saved.kind != FrameTable::Saved::Kind::kTold) continue;
    const Place place = Expression(surroundings, nullptr).place(saved.location, sizeof(uint64_t));
    if (place.kind == Place::Kind::kAddress) unwound_[reg] = loaded(place.code, 0);
    if (place.kind == Place::Kind::kValue) unwound_[reg] = place.code;
  }
  if (depth_ == 0)
    for (const unsigned reg : untouched_registers(*code_.debug_data, code_.function))
      unwound_[reg] = registers_[reg];
  is_unwound_ = true;
  return true;
}

}  // namespace blip::dwarf
