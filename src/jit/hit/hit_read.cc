// SPDX-License-Identifier: MIT
// Reads of memory in generated code. Nothing may fault in a target: what is on the page of the stack that the
// pad itself has just written to is there, and in a section what the table of valid ranges says; of anything
// else only the kernel can tell.
#include <cstring>

#include "jit/emit/ranges.h"
#include "jit/emit/shadow_code.h"
#include "jit/hit/hit_code.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names
using runtime::Fetch;
using script::Node;
using script::Op;

RangeReads::RangeReads(const Emission& emission)
    : emission_(emission),
      first_hint_(emission.action.class_id * 4),
      begun_(emission.code.assembler().newLabel()),
      new_reader_(emission.code.assembler().newLabel()) {}

RangeReads::Read RangeReads::add() {
  const auto hint = static_cast<uint32_t>((first_hint_ + reads_.size()) % abi::kRangeHints);
  return reads_.emplace_back(Read{emission_.code.assembler().newLabel(), hint});
}

// The n-th of the last kRangeWords.
Mem RangeReads::word(uint32_t n, uint32_t size) const {
  return ptr(rsp, emission_.frame.word(emission_.frame.words() - n), size);
}

void RangeReads::begin_tries() {
  constexpr uint32_t kTries = 32;  // each read may miss after a publication; another try costs little
  emission_.code.assembler().mov(word(1, 4), kTries);
}

void RangeReads::begin() {
  auto& a = emission_.code.assembler();
  emit_find_reading(a, emission_.env, new_reader_);
  a.bind(begun_);
  a.mov(reading(), rax);
}

void RangeReads::enter(asmjit::Label elsewhere) {
  emit_begin_reading(emission_.code.assembler(), emission_.env, reading(), elsewhere);
}

void RangeReads::cold(Section& section, asmjit::Label again, asmjit::Label give_up) {
  auto& a = emission_.code.assembler();
  asmjit::Label find = a.newLabel();
  for (const Read& read : reads_) {
    a.bind(read.miss);
    a.mov(rdx, rax);
    a.mov(eax, read.hint);
    a.jmp(find);
  }
  a.bind(find);
  section.abandon();
  a.mov(rcx, emission_.env.control.value);
  a.call(emission_.stubs.find_range.value);
  a.test(rdx, rdx);
  a.jz(give_up);
  a.sub(word(1, 4), 1);
  a.jz(give_up);
  a.jmp(again);
  a.bind(new_reader_);
  emit_ask_for_reading(a, emission_.env, emission_.stubs.find_reading);
  a.jnz(begun_);
  a.jmp(give_up);
}

// The value at the address in rax.
void HitCode::read(const Node& n) {
  if (way_ == HitWay::kSection && !ranges_) return read_near(n, elsewhere_);
  asmjit::Label far = a_.newLabel(), done = a_.newLabel();
  if (facts_[n.a].is_near) {
    read_near(n, far);
    a_.jmp(done);
  }
  a_.bind(far);
  if (way_ == HitWay::kSection) {
    check_range(n.width);
    emit_extend(a_, rax, ptr(rax, 0, n.width), n.width, n.is_signed);
  } else {
    a_.mov(rdx, rax);
    fetch(runtime::fetch_load(n.width));
    a_.mov(rax, rcx);
    emit_extend(a_, rax, rax, n.width, n.is_signed);
  }
  a_.bind(done);
}

void HitCode::check_range(uint32_t size) {
  a_.lea(rcx, ptr(rax, -int32_t{runtime::kLowestAddress}));  // what no process has is a fault at once
  a_.shr(rcx, runtime::kAddressBits);
  a_.jnz(fault_);
  const RangeReads::Read read = ranges_->add();
  const Mem word = qword_ptr(rsp, emission_.frame.word(depth_));
  emit_range_check(a_, emission_.env,
                   {.address = rax,
                    .size = size,
                    .hint = range_hint(read.hint),
                    .kept = word,
                    .reading = ranges_->reading()},
                   read.miss);
}

// Goes to `elsewhere`, with rax as it was, unless all bytes are on the page that rsp is on.
void HitCode::read_near(const Node& n, asmjit::Label elsewhere) {
  constexpr uint32_t kOffsets = abi::kPageSize - 1;
  a_.mov(qword_ptr(rsp, emission_.frame.word(depth_)), rax);  // the page is there from now on
  a_.mov(rcx, rax);
  a_.xor_(rcx, rsp);
  a_.cmp(rcx, kOffsets);
  a_.ja(elsewhere);
  if (n.width > 1) {
    a_.lea(rcx, ptr(rax, n.width - 1));
    a_.xor_(rcx, rsp);
    a_.cmp(rcx, kOffsets);
    a_.ja(elsewhere);
  }
  emit_extend(a_, rax, ptr(rax, 0, n.width), n.width, n.is_signed);
}

void HitCode::fetch(uint32_t what) {
  a_.mov(rcx, emission_.env.control.value);
  a_.mov(eax, what);
  a_.call(emission_.stubs.fetch.value);
  a_.test(rdx, rdx);
  a_.jz(fault_);
}

// The C string at the address in rax.
void HitCode::compare_text(const Node& n) {
  const std::string& text = code_.texts[n.value];
  const bool is_whole = n.op == Op::kTextEqual;
  if (way_ == HitWay::kSection) return compare_here(is_whole ? text + '\0' : text);
  a_.mov(rdx, rax);
  a_.lea(r8, ptr(texts_.add(a_, is_whole ? text + '\0' : text)));
  a_.mov(r9d, static_cast<uint32_t>(text.size() + is_whole));
  fetch(static_cast<uint32_t>(Fetch::kTextIs));
  a_.mov(rax, rcx);
}

// The bytes at the address in rax with those of the text.
void HitCode::compare_here(const std::string& text) {
  asmjit::Label differ = a_.newLabel(), done = a_.newLabel();
  const auto size = static_cast<uint32_t>(text.size());
  if (size != 0) check_range(size);
  for (uint32_t at = 0; at < size;) {
    uint64_t bytes = 0;
    const uint32_t left = size - at, width = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    std::memcpy(&bytes, text.data() + at, width);
    const Mem there = ptr(rax, static_cast<int32_t>(at), width);
    if (width == 8) {
      a_.mov(rcx, bytes);
      a_.cmp(there, rcx);
    } else if (width == 4) {
      a_.cmp(there, static_cast<int32_t>(bytes));
    } else {
      a_.cmp(there, width == 2 ? int64_t{static_cast<int16_t>(bytes)} : int64_t{static_cast<int8_t>(bytes)});
    }
    a_.jne(differ);
    at += width;
  }
  a_.mov(eax, 1);
  a_.jmp(done);
  a_.bind(differ);
  a_.xor_(eax, eax);
  a_.bind(done);
}

// rcx bytes at the address in rax.
void HitCode::compare_bytes(const Node& n) {
  const std::string& text = code_.texts[n.value];
  asmjit::Label done = a_.newLabel();
  a_.mov(rdx, rax);
  a_.xor_(eax, eax);
  a_.cmp(rcx, static_cast<uint32_t>(text.size()));
  a_.jne(done);
  if (way_ == HitWay::kSection) {
    a_.mov(rax, rdx);
    compare_here(text);
    a_.bind(done);
    return;
  }
  a_.lea(r8, ptr(texts_.add(a_, text)));
  a_.mov(r9d, static_cast<uint32_t>(text.size()));
  fetch(static_cast<uint32_t>(Fetch::kBytesAre));
  a_.mov(rax, rcx);
  a_.bind(done);
}

// Looks up the key in rax: all keys, then all values, lie behind the code. The search halves the rows that
// are left, without a branch.
void HitCode::look_up(const script::Table& table) {
  std::string bytes;
  const auto append = [&](uint64_t word) {
    bytes.append(reinterpret_cast<const char*>(&word), sizeof(word));
  };
  for (const auto& row : table) append(row.first);
  for (const auto& row : table) append(row.second);
  a_.lea(rcx, ptr(texts_.add(a_, bytes)));
  constexpr size_t kWord = sizeof(uint64_t);
  for (size_t left = table.size(); left > 1; left -= left / 2) {
    a_.lea(rdx, ptr(rcx, static_cast<int32_t>(left / 2 * kWord)));
    a_.cmp(rax, qword_ptr(rdx));
    a_.cmovae(rcx, rdx);
  }
  a_.cmp(rax, qword_ptr(rcx));
  a_.jne(fault_);
  a_.mov(rax, qword_ptr(rcx, static_cast<int32_t>(table.size() * kWord)));
}

// In a section there is one: the gate was open. Elsewhere there may be none yet.
void HitCode::thread_pointer() {
  if (way_ == HitWay::kSection) {
    a_.mov(rax, thread_memory(0, 8));
    return;
  }
  fetch(static_cast<uint32_t>(Fetch::kThreadPointer));
  a_.mov(rax, rcx);
}

// In ns, of what the call's frame holds in units of the clock. `rate`: ns per unit, times 2^48; 0: a unit is
// one ns.
void HitCode::latency(uint64_t rate) {
  constexpr unsigned kRateShift = 48;
  a_.mov(rax, qword_ptr(rsi, shadow::kTime));
  if (rate == 0) return;
  a_.mov(rcx, rate);
  a_.mul(rcx);
  a_.shrd(rax, rdx, kRateShift);
}

}  // namespace blip::jit
