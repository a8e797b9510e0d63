// SPDX-License-Identifier: MIT
// Emits the checks that a pad makes before it records a hit, and its way from the home region to that of a channel. rcx holds
// the control address of the home region.
#pragma once

#include "abi/layout.h"
#include "jit/emit/assembler.h"
#include "jit/program/action.h"
#include "jit/program/environment.h"

namespace blip::jit {

// Members of the gate page, from the control address.
inline constexpr int32_t kGate = -int32_t{abi::kGatePageSize} + int32_t{offsetof(abi::GatePage, gate)};
inline constexpr int32_t kOwnRanges =
    -int32_t{abi::kGatePageSize} + int32_t{offsetof(abi::GatePage, own_ranges)};
inline constexpr int32_t kPid = -int32_t{abi::kGatePageSize} + int32_t{offsetof(abi::GatePage, pid)};

// Goes to `closed` unless the hit may enter a restartable sequence.
void emit_gate_check(asmjit::x86::Assembler& a, asmjit::Label closed);

// Goes to `off` if the probe is switched off: not a hit at all.
void emit_switch_check(asmjit::x86::Assembler& a, const abi::Geometry& geometry, uint32_t index,
                       asmjit::Label off);
// The same for an action that several probes share: off if all of them are.
void emit_switch_check(asmjit::x86::Assembler& a, const abi::Geometry& geometry, const Action& action,
                       asmjit::Label off);

// rcx = the control address of the channel region from here on.
void emit_go_to_channel(asmjit::x86::Assembler& a, const ProcessEnvironment& env,
                        const ChannelEnvironment& channel);

}  // namespace blip::jit
