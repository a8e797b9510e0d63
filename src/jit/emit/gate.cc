// SPDX-License-Identifier: MIT
#include "jit/emit/gate.h"

namespace blip::jit {

using namespace asmjit::x86;  // NOLINT: register names

void emit_gate_check(Assembler& a, asmjit::Label closed) {
  a.cmp(dword_ptr(rcx, kGate), abi::kGateOpen);
  a.jne(closed);
}

void emit_switch_check(Assembler& a, const abi::Geometry& geometry, uint32_t index, asmjit::Label off) {
  if (index >= geometry.probe_count) return;  // it has no switch
  a.cmp(byte_ptr(rcx, static_cast<int32_t>(geometry.switches_offset() + index)), abi::kSwitchOff);
  a.je(off);
}

void emit_switch_check(Assembler& a, const abi::Geometry& geometry, const Action& action, asmjit::Label off) {
  asmjit::Label on = a.newLabel();
  for (const uint32_t index : action.more_switches) {
    if (index >= geometry.probe_count) continue;
    a.cmp(byte_ptr(rcx, static_cast<int32_t>(geometry.switches_offset() + index)), abi::kSwitchOff);
    a.jne(on);
  }
  emit_switch_check(a, geometry, action.switch_index, off);
  a.bind(on);
}

// A trace's first channel lies where the home region is.
void emit_go_to_channel(Assembler& a, const ProcessEnvironment& env, const ChannelEnvironment& channel) {
  if (channel.control != env.control) a.mov(rcx, channel.control.value);
}

}  // namespace blip::jit
