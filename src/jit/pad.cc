// SPDX-License-Identifier: MIT
#include "jit/pad.h"

#include <algorithm>

#include "jit/count.h"
#include "jit/record.h"
#include "x86/relocate.h"

namespace blip::jit {

namespace {

bool records_flags(const Program& program) {
  return std::any_of(program.fields.begin(), program.fields.end(),
                     [](const Field& f) { return f.capture == Capture::kFlags; });
}

// Copies of the site's first instructions; true: control can run past them.
Result<bool> emit_copy(CodeBuffer& code, const PadSite& site, std::span<const uint8_t> instructions,
                       Pad& pad) {
  auto& a = code.assembler();
  const auto start = static_cast<uint16_t>(a.offset());
  TRY(x86::Relocated copy,
      x86::relocate(instructions, site.addr, code.here(), {.shadow_stack = site.shadow_stack}));
  a.embed(copy.bytes.data(), copy.bytes.size());
  for (auto [from, to] : copy.heads) pad.heads.emplace_back(from, static_cast<uint16_t>(start + to));
  return copy.falls_through;
}

// The displaced instructions and the way back.
Status emit_displaced(CodeBuffer& code, const PadSite& site, Pad& pad) {
  TargetAddr behind = site.addr + site.lead.size();
  if (site.lead.empty()) {
    TRY(const bool falls_through, emit_copy(code, site, site.window, pad));
    if (!falls_through) return {};
    behind = site.resume == TargetAddr() ? site.addr + site.window.size() : site.resume;
  }
  code.assembler().jmp(behind.value);
  return {};
}

template <class Emitter>
Result<Pad> assemble(CodeBuffer& code, const PadSite& site, const Frame& frame, Emitter&& emitter) {
  Pad pad;
  auto& a = code.assembler();
  asmjit::Label done = a.newLabel();
  if (!site.lead.empty()) TRY_OK(emit_copy(code, site, site.lead, pad));
  frame.emit_save(a);
  emitter.hot();
  a.bind(done);
  frame.emit_restore(a);
  TRY_OK(emit_displaced(code, site, pad));
  emitter.cold(done);
  TRY(pad.code, code.finish());
  return pad;
}

// asmjit would reach farther through a table of addresses; a jump back must be a plain one.
bool in_reach(TargetAddr a, TargetAddr b) {
  constexpr uint64_t kReach = (uint64_t{1} << 31) - (1 << 16);
  return std::max(a, b) - std::min(a, b) < kReach;
}

}  // namespace

uint64_t max_pad_size(const Program& program) {
  constexpr uint64_t kFixed = 416;    // frame, section, cold part, widest relocated window, descriptor
  constexpr uint64_t kPerField = 48;  // both paths
  return kFixed + kPerField * program.fields.size();
}

Result<Pad> build_pad(TargetAddr at, const PadSite& site, const Program& program, const Environment& env,
                      const AreaStubs& stubs) {
  if (!in_reach(at, site.addr)) return Error(ErrorKind::kUnsupported, "the pad is too far from the site");
  CodeBuffer code(at);
  const bool counts = program.kind == Program::Kind::kCount;
  const Frame frame({.skip_red_zone = site.skip_red_zone,
                     .flags_live = site.flags_live,
                     .flags_recorded = records_flags(program),
                     .save_rdx = !counts});
  if (counts) return assemble(code, site, frame, CountEmitter(code, env, program));
  return assemble(code, site, frame, RecordEmitter(code, env, stubs, frame, program));
}

}  // namespace blip::jit
