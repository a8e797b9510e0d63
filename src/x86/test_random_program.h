// SPDX-License-Identifier: MIT
// For tests only: a short random program and the state it starts from, and how to tell whether it still does
// the same after its instructions were led elsewhere.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "x86/code_writer.h"
#include "x86/test_machine.h"
#include "x86/test_random_code.h"

namespace blip::x86::test {

// BLIP_SEED, or one made up; printed, so that a failure can be had again.
inline uint64_t random_seed() {
  const char* given = std::getenv("BLIP_SEED");
  const uint64_t seed = given ? std::strtoull(given, nullptr, 0) : std::random_device()();
  fmt::print("BLIP_SEED={}\n", seed);
  return seed;
}

// The state that a program left.
struct Outcome {
  int signal = 0;
  MachineState state;
  std::vector<uint8_t> data, stack;
};

class RandomProgram {
 public:
  // An instruction and, if it is shorter than a jump, the nop behind it.
  struct Item {
    size_t offset;
    size_t length;
  };

  RandomProgram(Machine& machine, RandomCode& code, std::mt19937_64& random, size_t units);
  // Not so random: these very instructions, in a random state.
  RandomProgram(Machine& machine, RandomCode& code, std::mt19937_64& random, std::vector<uint8_t> bytes,
                std::vector<Item> items);

  const std::vector<Item>& items() const { return items_; }
  std::span<const uint8_t> bytes() const { return bytes_; }
  TargetAddr addr() const { return Machine::addr(machine_.code()); }
  bool has_branches() const { return has_branches_; }
  // The state before each item, as long as there is no branch.
  const MachineState& before(size_t item) const { return before_[item]; }
  const MachineState& start() const { return start_; }

  // Puts code and memory as they were and runs from the start. `patch` may change the code.
  Outcome run(const std::function<void()>& patch = {});
  // Replaces an item by a jump.
  void lead_to(size_t item, TargetAddr pad);
  // The first difference between two outcomes that the program itself could see; empty: none.
  std::string difference(const Outcome& a, const Outcome& b) const;
  std::string listing() const;

 private:
  using Unit = std::vector<std::vector<uint8_t>>;  // instructions that must be entered at the first
  struct Branch {
    size_t end;     // of the instruction, whose last bytes are the displacement
    size_t width;   // 1 or 4
    size_t passes;  // units still to be jumped over
  };

  void choose_registers();
  void fill_memory();
  bool append(const Unit& unit, std::optional<Branch> branch);
  Unit make_branch(Branch& branch);
  Unit make_string();
  TargetAddr cursor() const { return addr() + bytes_.size(); }
  void reset_memory();
  void lay_out();
  bool is_reserved(int reg) const { return reg == context_.base || reg == context_.index; }

  Machine& machine_;
  RandomCode& code_;
  std::mt19937_64& random_;
  CodeContext context_;
  MachineState start_;
  std::vector<uint8_t> data_, stack_;
  std::vector<uint8_t> bytes_;
  std::vector<Item> items_;
  std::vector<MachineState> before_;
  std::vector<Branch> branches_;
  bool has_branches_ = false;
};

inline RandomProgram::RandomProgram(Machine& machine, RandomCode& code, std::mt19937_64& random, size_t units)
    : machine_(machine), code_(code), random_(random), start_(machine.random_state(random)) {
  constexpr size_t kMaxSize = 180;  // a window's length is a byte
  choose_registers();
  fill_memory();
  before_.push_back(start_);
  for (size_t i = 0; i < units && bytes_.size() < kMaxSize;) {
    const uint64_t kind = code_.pick(24);
    Branch branch{};
    Unit unit;
    if (kind == 0) unit = make_string();
    if (kind == 1) unit = make_branch(branch);
    if (unit.empty()) unit = {code_.next(cursor(), context_)};
    if (append(unit, kind == 1 && branch.width ? std::optional(branch) : std::nullopt)) ++i;
  }
}

inline RandomProgram::RandomProgram(Machine& machine, RandomCode& code, std::mt19937_64& random,
                                    std::vector<uint8_t> bytes, std::vector<Item> items)
    : machine_(machine),
      code_(code),
      random_(random),
      start_(machine.random_state(random)),
      bytes_(std::move(bytes)),
      items_(std::move(items)),
      before_{start_},
      has_branches_(true) {
  fill_memory();
}

inline void RandomProgram::fill_memory() {
  for (auto* memory : {&data_, &stack_}) {
    memory->resize(Machine::kDataSize);
    for (uint8_t& b : *memory) b = static_cast<uint8_t>(random_());
  }
}

inline void RandomProgram::choose_registers() {
  const auto choose = [&](uint8_t not_this) {
    for (;;) {
      const auto reg = static_cast<uint8_t>(code_.pick(16));
      if (reg != blip::test::kRsp && reg != not_this) return reg;
    }
  };
  context_.base = choose(blip::test::kRsp);
  context_.index = choose(context_.base);
  context_.data = Machine::addr(machine_.data().data()) + Machine::kDataSize / 2;
  start_.general.gpr[context_.base] = context_.data.value;
  start_.general.gpr[context_.index] = code_.pick(RandomCode::kMaxIndex);
}

// A conditional branch over one to three units; how far that is turns out later.
inline RandomProgram::Unit RandomProgram::make_branch(Branch& branch) {
  branch.passes = 1 + code_.pick(3);
  branch.width = 1;
  const uint64_t kind = code_.pick(8);
  if (kind == 0 && !is_reserved(blip::test::kRcx))
    return {{static_cast<uint8_t>(0xe0 + code_.pick(3)), 0}};  // loopne, loope, loop
  if (kind == 1) return {{0xe3, 0}};                           // jrcxz
  if (kind < 4) {
    branch.width = 4;
    return {{0x0f, static_cast<uint8_t>(0x80 | code_.pick(16)), 0, 0, 0, 0}};  // jcc rel32
  }
  return {{static_cast<uint8_t>(0x70 | code_.pick(16)), 0}};  // jcc rel8
}

// A string instruction on up to eight elements, repeated or not.
inline RandomProgram::Unit RandomProgram::make_string() {
  for (int reg : {blip::test::kRax, blip::test::kRcx, blip::test::kRdi, blip::test::kRsi})
    if (is_reserved(reg)) return {};
  Unit unit;
  const auto lea = [&](uint8_t modrm, size_t at) {
    const auto goal = context_.data + code_.pick(0x200);
    const auto rel = static_cast<uint32_t>(goal - (cursor() + at + 7));
    std::vector<uint8_t> bytes{0x48, 0x8d, modrm};
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(rel >> (8 * i)));
    return bytes;
  };
  unit.push_back(lea(0x3d, 0));                                          // lea rdi, [rip+...]
  unit.push_back(lea(0x35, 7));                                          // lea rsi, [rip+...]
  unit.push_back({0xb9, static_cast<uint8_t>(code_.pick(9)), 0, 0, 0});  // mov ecx, 0..8
  std::vector<uint8_t> string;
  if (const uint64_t rep = code_.pick(3)) string.push_back(rep == 1 ? 0xf2 : 0xf3);
  if (code_.pick(2)) string.push_back(0x48);
  constexpr uint8_t kOpcodes[] = {0xa4, 0xa5, 0xa6, 0xa7, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf};
  string.push_back(kOpcodes[code_.pick(std::size(kOpcodes))]);
  unit.push_back(string);
  return unit;
}

// Adds the unit if the program then still runs to its end.
inline bool RandomProgram::append(const Unit& unit, std::optional<Branch> branch) {
  const auto bytes = bytes_;
  const auto items = items_;
  const auto branches = branches_;
  for (const auto& insn : unit) {
    static constexpr uint8_t kNops[5][4] = {{}, {0x90}, {0x66, 0x90}, {0x0f, 0x1f, 0}, {0x0f, 0x1f, 0x40, 0}};
    const size_t nop = insn.size() < kJumpLength ? kJumpLength - insn.size() : 0;
    items_.push_back({bytes_.size(), insn.size() + nop});
    bytes_.insert(bytes_.end(), insn.begin(), insn.end());
    if (branch) branch->end = bytes_.size();
    bytes_.insert(bytes_.end(), kNops[nop], kNops[nop] + nop);
  }
  for (Branch& b : branches_) {
    if (b.passes == 0) continue;
    --b.passes;
    const auto rel = static_cast<uint32_t>(bytes_.size() - b.end);
    for (size_t i = 0; i < b.width; ++i) bytes_[b.end - b.width + i] = static_cast<uint8_t>(rel >> (8 * i));
  }
  if (branch) branches_.push_back(*branch);
  Outcome outcome = run();
  code_.note(unit.back(), outcome.signal != SIGILL);
  if (outcome.signal == 0) {
    has_branches_ |= branch.has_value();
    if (unit.size() > 1) has_branches_ = true;  // the states between are not known
    before_.push_back(outcome.state);
    return true;
  }
  bytes_ = bytes;
  items_ = items;
  branches_ = branches;
  return false;
}

inline void RandomProgram::reset_memory() {
  std::copy(data_.begin(), data_.end(), machine_.data().begin());
  std::copy(stack_.begin(), stack_.end(), machine_.stack().begin());
}

inline void RandomProgram::lay_out() {
  std::copy(bytes_.begin(), bytes_.end(), machine_.code());
  uint8_t* end = machine_.code() + bytes_.size();
  *end = 0xe9;  // jmp exit
  const int32_t rel = *displacement(cursor() + kJumpLength, machine_.exit());
  std::memcpy(end + 1, &rel, sizeof rel);
}

inline Outcome RandomProgram::run(const std::function<void()>& patch) {
  lay_out();
  reset_memory();
  if (patch) patch();
  Outcome outcome{.state = start_};
  outcome.signal = machine_.run(outcome.state, machine_.code());
  outcome.data.assign(machine_.data().begin(), machine_.data().end());
  outcome.stack.assign(machine_.stack().begin(), machine_.stack().end());
  return outcome;
}

inline void RandomProgram::lead_to(size_t item, TargetAddr pad) {
  uint8_t* at = machine_.code() + items_[item].offset;
  std::memset(at, 0xcc, items_[item].length);
  *at = 0xe9;  // jmp rel32
  const int32_t rel = *displacement(Machine::addr(at) + kJumpLength, pad);
  std::memcpy(at + 1, &rel, sizeof rel);
}

inline std::string RandomProgram::difference(const Outcome& a, const Outcome& b) const {
  if (a.signal != b.signal) return fmt::format("signal {} instead of {}", b.signal, a.signal);
  for (int i = 0; i < 16; ++i)
    if (a.state.general.gpr[i] != b.state.general.gpr[i])
      return fmt::format("register {} is {:#x} instead of {:#x}", i, b.state.general.gpr[i],
                         a.state.general.gpr[i]);
  if (a.state.general.rflags != b.state.general.rflags)
    return fmt::format("flags are {:#x} instead of {:#x}", b.state.general.rflags, a.state.general.rflags);
  for (size_t i = 0; i < machine_.vector_size(); ++i) {
    // Opcode, address and operand of the last x87 instruction: that of the copy, and on AMD any switch of
    // threads clears them.
    const bool is_last_x87 = i >= 6 && i < 24;
    const bool is_header = i >= 512 && i < 576;
    if (!is_last_x87 && !is_header && a.state.vectors.bytes[i] != b.state.vectors.bytes[i])
      return fmt::format("byte {} of the vector state is {:#x} instead of {:#x}", i, b.state.vectors.bytes[i],
                         a.state.vectors.bytes[i]);
  }
  for (size_t i = 0; i < a.data.size(); ++i)
    if (a.data[i] != b.data[i]) return fmt::format("byte {} of the data differs", i);
  // Anything below the red zone may have changed at any time.
  uint64_t rsp = a.state.general.gpr[blip::test::kRsp];
  for (const MachineState& state : before_) rsp = std::max(rsp, state.general.gpr[blip::test::kRsp]);
  const uint64_t kept = rsp - 128 - reinterpret_cast<uint64_t>(machine_.stack().data());
  for (size_t i = kept; i < a.stack.size(); ++i)
    if (a.stack[i] != b.stack[i]) return fmt::format("byte {} of the stack differs", i);
  return {};
}

inline std::string RandomProgram::listing() const {
  std::string text;
  for (const Item& item : items_) {
    ZydisDisassembledInstruction insn;
    ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, addr().value + item.offset, &bytes_[item.offset],
                          item.length, &insn);
    text += fmt::format("{:4x}  {}\n", item.offset, insn.text);
  }
  return text;
}

}  // namespace blip::x86::test
