// SPDX-License-Identifier: MIT
// Registers, beside those of HitCode:
//   rdi  the record; rdx, if all outputs are plain values
//   r10  the ring's control block; rcx, if all outputs are plain values
//   r11  where the next bytes of changing length go
// A fault sets its bit in the hit word and leaves zeros, or nothing where the size may change.
#include "jit/hit/hit_outputs.h"

#include "jit/hit/hit_copy.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names
using runtime::Fetch;
using script::Output;

namespace {
constexpr uint32_t kLengthMask = abi::kLengthCut - 1;
}

HitOutputs::HitOutputs(const Emission& emission)
    : a_(emission.code.assembler()),
      emission_(emission),
      hit_(emission.action.hit),
      is_dynamic_(has_dynamic_outputs(hit_)),
      is_light_(output_needs(hit_).registers == reg_bit(Gp::kIdAx)),
      uses_ranges_(outputs_use_ranges(emission.action, emission.env)),
      ranges_(emission) {}

Gp HitOutputs::record() const { return is_light_ ? Gp(rdx) : Gp(rdi); }
Gp HitOutputs::ring() const { return is_light_ ? Gp(rcx) : Gp(r10); }

Mem HitOutputs::place(size_t index, uint32_t size) const {
  return ptr(record(), emission_.action.output_offsets[index], size);
}

void HitOutputs::emit_calls() {
  HitCode code(emission_, texts_);
  emit(code);
}

void HitOutputs::emit_section(asmjit::Label elsewhere) {
  HitCode code(emission_, texts_, elsewhere, uses_ranges_ ? &ranges_ : nullptr);
  if (!is_light_) a_.mov(r10, rcx);
  emit(code);
}

void HitOutputs::emit(HitCode& code) {
  if (!is_light_) a_.mov(rdi, rdx);
  const uint32_t size = is_dynamic_ ? 0 : emission_.action.record_size;
  a_.mov(qword_ptr(record(), abi::kHitWordOffset), size);
  if (is_dynamic_) a_.lea(r11, ptr(rdi, static_cast<int32_t>(emission_.action.fixed_size)));
  for (size_t i = 0; i < hit_.outputs.size(); ++i) {
    switch (hit_.outputs[i].kind) {
      case Output::Kind::kValue:
        emit_value(code, i);
        break;
      case Output::Kind::kBytes:
        emit_bytes(code, i);
        break;
      case Output::Kind::kString:
        emit_string(code, i);
        break;
      case Output::Kind::kSequence:
        emit_sequence(code, i);
        break;
      case Output::Kind::kCollected:
        emit_collected(code, i);
        break;
    }
  }
  if (is_dynamic_) emit_size();
}

void HitOutputs::emit_size() {
  a_.lea(rax, ptr(r11, abi::kRecordAlign - 1));
  a_.sub(rax, rdi);
  a_.and_(eax, -int32_t{abi::kRecordAlign});
  a_.mov(word_ptr(rdi, abi::kHitWordOffset), ax);
}

void HitOutputs::mark_fault(size_t index) {
  const size_t bit = abi::kHitFaultShift + index;
  a_.or_(byte_ptr(record(), static_cast<int32_t>(abi::kHitWordOffset + bit / 8)), 1 << bit % 8);
}

void HitOutputs::emit_value(HitCode& code, size_t index) {
  const Output& output = hit_.outputs[index];
  asmjit::Label fault = a_.newLabel(), done = a_.newLabel();
  code.set_fault(fault);
  code.value(output.node);
  if (code.facts(output.node).may_fault) {
    a_.jmp(done);
    a_.bind(fault);
    mark_fault(index);
    a_.xor_(eax, eax);
    a_.bind(done);
  }
  const auto store = [&](auto value) { a_.mov(place(index, output.size), value); };
  if (output.size == 8) return store(rax);
  if (output.size == 4) return store(eax);
  return output.size == 2 ? store(ax) : store(al);
}

// rdx = the address; of a fault, one that cannot be read, and is not NULL.
void HitOutputs::emit_address(HitCode& code, uint32_t node) {
  asmjit::Label fault = a_.newLabel(), done = a_.newLabel();
  code.set_fault(fault);
  code.value(node);
  if (code.facts(node).may_fault) {
    a_.jmp(done);
    a_.bind(fault);
    a_.mov(eax, 1);
    a_.bind(done);
  }
  a_.mov(rdx, rax);
}

void HitOutputs::emit_bytes_here(HitCode& code, size_t index) {
  const Output& output = hit_.outputs[index];
  const int32_t offset = emission_.action.output_offsets[index];
  asmjit::Label fault = a_.newLabel(), done = a_.newLabel();
  code.set_fault(fault);
  code.value(output.node);
  code.check_range(output.count);
  emit_copy(a_, CopyFrom::kMemory, offset, output.count);
  a_.jmp(done);
  a_.bind(fault);
  mark_fault(index);
  emit_copy(a_, CopyFrom::kZeros, offset, output.count);
  a_.bind(done);
}

void HitOutputs::emit_string_here(HitCode& code, size_t index) {
  const Output& output = hit_.outputs[index];
  asmjit::Label fault = a_.newLabel(), done = a_.newLabel();
  asmjit::Label null = a_.newLabel(), no_text = a_.newLabel();
  code.set_fault(fault);
  code.value(output.node);
  a_.test(rax, rax);
  a_.jz(null);
  code.check_range(1);
  emit_copy_text(a_, output.count, code.elsewhere());
  a_.jmp(done);
  a_.bind(null);
  a_.mov(ecx, abi::kLengthCut);
  a_.jmp(no_text);
  a_.bind(fault);
  a_.xor_(ecx, ecx);
  a_.bind(no_text);
  mark_fault(index);
  a_.bind(done);
  add_length(index);
}

void HitOutputs::emit_bytes(HitCode& code, size_t index) {
  if (code.way() == HitWay::kSection) return emit_bytes_here(code, index);
  const Output& output = hit_.outputs[index];
  asmjit::Label fault = a_.newLabel(), done = a_.newLabel();
  emit_address(code, output.node);
  a_.lea(r8, place(index, 0));
  a_.mov(r9d, output.count);
  code.set_fault(fault);
  code.fetch(static_cast<uint32_t>(Fetch::kBytes));
  a_.jmp(done);
  a_.bind(fault);  // the runtime has stored zeros
  mark_fault(index);
  a_.bind(done);
}

void HitOutputs::emit_string(HitCode& code, size_t index) {
  if (code.way() == HitWay::kSection) return emit_string_here(code, index);
  const Output& output = hit_.outputs[index];
  asmjit::Label fault = a_.newLabel(), done = a_.newLabel();
  emit_address(code, output.node);
  a_.mov(ecx, abi::kLengthCut);
  a_.test(rdx, rdx);
  a_.jz(fault);
  a_.mov(r8, r11);
  a_.mov(r9d, output.count);
  code.set_fault(fault);
  code.fetch(static_cast<uint32_t>(Fetch::kText));
  a_.jmp(done);
  a_.bind(fault);  // rcx is 0, or the flag at NULL
  mark_fault(index);
  a_.bind(done);
  add_length(index);
}

// Its length in bytes, with the flag, waits in a word of the stack while the address is computed.
void HitOutputs::emit_sequence(HitCode& code, size_t index) {
  const Output& output = hit_.outputs[index];
  asmjit::Label fault = a_.newLabel(), done = a_.newLabel(), is_cut = a_.newLabel();
  code.set_fault(fault);
  code.value(output.length);
  a_.mov(ecx, output.count * output.size | abi::kLengthCut);
  a_.cmp(rax, output.count);
  a_.ja(is_cut);
  a_.imul(ecx, eax, output.size);
  a_.bind(is_cut);
  const Mem length = dword_ptr(rsp, code.hold_word());
  a_.mov(length, ecx);
  code.value(output.node);
  emit_elements(code, length);
  a_.mov(ecx, length);
  code.give_back_word();
  a_.jmp(done);
  a_.bind(fault);
  mark_fault(index);
  a_.xor_(ecx, ecx);
  a_.bind(done);
  add_length(index);
}

// From the address in rax.
void HitOutputs::emit_elements(HitCode& code, const Mem& length) {
  a_.mov(r9d, length);
  a_.and_(r9d, kLengthMask);
  if (code.way() == HitWay::kCalls) {
    a_.mov(rdx, rax);
    a_.mov(r8, r11);
    return code.fetch(static_cast<uint32_t>(Fetch::kBytes));
  }
  asmjit::Label none = a_.newLabel();
  a_.jz(none);
  code.check_range(1);
  a_.cmp(rdx, r9);
  a_.jb(code.elsewhere());
  emit_copy_counted(a_);
  a_.bind(none);
}

// Behind the code: the table, then its steps.
std::string HitOutputs::table_of(const Output& output) const {
  const collect::Table table{
      .size = output.count, .hops = script::hops_of(output), .safe_load = emission_.stubs.safe_load.value};
  std::string bytes(reinterpret_cast<const char*>(&table), sizeof table);
  bytes.append(reinterpret_cast<const char*>(output.steps.data()),
               output.steps.size() * sizeof(collect::Step));
  return bytes;
}

// Never a fault: what the runtime writes says what it lacks. A number of elements that is a fault is none.
void HitOutputs::emit_collected(HitCode& code, size_t index) {
  const Output& output = hit_.outputs[index];
  asmjit::Label fault = a_.newLabel(), done = a_.newLabel();
  code.set_fault(fault);
  code.value(output.length);
  if (code.facts(output.length).may_fault) {
    a_.jmp(done);
    a_.bind(fault);
    a_.xor_(eax, eax);
    a_.bind(done);
  }
  const Mem length = qword_ptr(rsp, code.hold_word());
  a_.mov(length, rax);
  emit_address(code, output.node);
  a_.mov(r9, length);
  code.give_back_word();
  a_.mov(r8, r11);
  a_.lea(rax, ptr(texts_.add(a_, table_of(output))));
  a_.mov(rcx, emission_.env.control.value);
  a_.call(emission_.stubs.collect.value);
  a_.mov(ecx, edx);
  add_length(index);
}

// The length in cx, with its flag, into the record; the next bytes go behind these.
void HitOutputs::add_length(size_t index) {
  a_.mov(place(index, 2), cx);
  a_.and_(ecx, kLengthMask);
  a_.add(r11, rcx);
}

}  // namespace blip::jit
