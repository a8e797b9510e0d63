// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "jit/emit/section.h"
#include "jit/hit/hit_operands.h"
#include "jit/program/hit_needs.h"
#include "runtime/fetch.h"

namespace blip::jit {

// The place where code of a program runs.
enum class HitWay : uint8_t {
  kSection,  // in a restartable sequence: no calls, and reads of what is known to be there
  kCalls,    // outside: the runtime reads what may not be there
};

// Bytes that code refers to, to be emitted behind it.
class TextPool {
 public:
  asmjit::Label add(asmjit::x86::Assembler& a, const std::string& bytes);
  void emit(asmjit::x86::Assembler& a);

 private:
  std::vector<std::pair<asmjit::Label, std::string>> texts_;
};

// Reads of a section by the valid ranges. Each has a hint of its own, by which the next one finds its range.
class RangeReads {
 public:
  explicit RangeReads(const Emission& emission);

  struct Read {
    asmjit::Label miss;
    uint32_t hint;
  };
  Read add();
  // Before the first try.
  void begin_tries();
  // Before each, with rcx = the control address and an open gate; clobbers rax and rdx.
  void begin();
  // First in the section, after the gate; goes to `elsewhere` if nothing may be read in it. Clobbers rax.
  void enter(asmjit::Label elsewhere);
  // The address of the thread's abi::Reading, from begin() on.
  asmjit::x86::Mem reading() const { return word(2); }
  // Outside of the section. For reads that found no range: asks the runtime, then goes to `again`, or to
  // `give_up` if there is no such range. For begin() too.
  void cold(Section& section, asmjit::Label again, asmjit::Label give_up);

 private:
  asmjit::x86::Mem word(uint32_t n, uint32_t size = 8) const;

  Emission emission_;
  uint32_t first_hint_;
  std::vector<Read> reads_;
  asmjit::Label begun_, new_reader_;
};

// Machine code for the nodes of one program (script/ir/ir.h). Values come in rax; rcx, rdx and, for text, r8 and
// r9 are changed too (hit_needs.h says which), rsp never: a restartable sequence may be left between any two
// instructions. What the code under the probe left in registers is where `emission.frame` says; of returns,
// rsi is the call's frame.
class HitCode {
 public:
  HitCode(const Emission& emission, TextPool& texts);  // kCalls
  // kSection. `elsewhere`: where to go if something cannot be read in it; `ranges`: null if there are no
  // ranges.
  HitCode(const Emission& emission, TextPool& texts, asmjit::Label elsewhere, RangeReads* ranges);

  // Sets where control goes if what is computed next is a fault.
  void set_fault(asmjit::Label fault) { fault_ = fault; }
  void value(uint32_t node);
  // One of the labels is bound right behind it: if passes_next, `pass`.
  void branch(uint32_t node, asmjit::Label pass, asmjit::Label fail, bool passes_next);
  // The runtime's answer in rcx; rdx is the address, r8 and r9 are as it wants them.
  void fetch(uint32_t what);
  // Goes on if `size` bytes from the address in rax on can be read in the section, with rdx = how many can.
  void check_range(uint32_t size);
  HitWay way() const { return way_; }
  asmjit::Label elsewhere() const { return elsewhere_; }
  // A word of the stack that stays as it is until it is given back.
  int32_t hold_word() { return emission_.frame.word(depth_++); }
  void give_back_word() { --depth_; }

  const NodeFacts& facts(uint32_t node) const { return facts_[node]; }

 private:
  const script::Node& node(uint32_t at) const { return code_.nodes[at]; }
  void operands(uint32_t a, uint32_t b);
  void unary(const script::Node& n);
  void binary(const script::Node& n);
  void divide(const script::Node& n);
  void shift(const script::Node& n);
  void truth(uint32_t at);
  void select(const script::Node& n);
  void read(const script::Node& n);
  void read_near(const script::Node& n, asmjit::Label elsewhere);
  void compare_text(const script::Node& n);
  void compare_here(const std::string& text);
  void compare_bytes(const script::Node& n);
  void look_up(const script::Table& table);
  void thread_pointer();
  void latency(uint64_t rate);
  void jump(Cc cc, asmjit::Label pass, asmjit::Label fail, bool passes_next);

  asmjit::x86::Assembler& a_;
  Emission emission_;
  const script::Code& code_;
  HitWay way_;
  TextPool& texts_;
  asmjit::Label elsewhere_;
  RangeReads* ranges_ = nullptr;
  HitOperands operands_;
  std::vector<NodeFacts> facts_;
  asmjit::Label fault_;
  uint32_t depth_ = 0;  // the first word of the stack that is free
};

// hit_float.cc: doubles and floats by their bits, for vector registers stay as they are.
// al = whether the double in rax is less than the one in rcx (...); clobbers rdx.
void emit_float_comparison(asmjit::x86::Assembler& a, script::Op op);
// rax = the float in eax as a double; clobbers rcx, rdx.
void emit_widen(asmjit::x86::Assembler& a);

}  // namespace blip::jit
