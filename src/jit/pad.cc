// SPDX-License-Identifier: MIT
#include "jit/pad.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <limits>
#include <memory>

#include "jit/hit/hit_condition.h"
#include "jit/hit/kept_values.h"
#include "jit/make_emitter.h"
#include "x86/relocate.h"

// A pad, for a window of two instructions with a probe on each:
//
//   save; program 0; restore; copy of instruction 0
//   save; program 1; restore; copy of instruction 1
//   jmp back
//   what the programs seldom need

namespace blip::jit {

namespace {

Error refuse(const char* reason) { return Error(ErrorKind::kUnsupported, reason); }

// Registers that the code or a record wants to find as they are.
uint16_t wanted_registers(const PadProbe& probe, const Recorded& by_others) {
  return probe.live_registers | recorded_by(*probe.program).registers | by_others.registers;
}

// Returns what has to be saved around any program.
Frame::Needs basic_needs(const PadProbe& probe, const Recorded& by_others) {
  return {.skip_red_zone = probe.skip_red_zone,
          .flags_live = probe.flags_live || by_others.flags,
          .flags_recorded = recorded_by(*probe.program).flags};
}

Frame::Needs needs_of(const PadProbe& probe, const Environment& env) {
  using asmjit::x86::Gp;
  const Program& program = *probe.program;
  const bool around_calls = program.kind == Program::Kind::kEnter || program.is_return;
  uint16_t uses = reg_bit(Gp::kIdAx) | reg_bit(Gp::kIdCx);
  if (program.kind != Program::Kind::kCount || around_calls) uses |= reg_bit(Gp::kIdDx);
  if (around_calls) uses |= reg_bit(Gp::kIdSi);
  Frame::Needs needs = basic_needs(probe, env.recorded);
  if (program.kind == Program::Kind::kRecord || program.kind == Program::Kind::kEnter) {
    const bool by_ranges = program.kind == Program::Kind::kEnter ? keeps_by_ranges(program, env)
                                                                 : outputs_use_ranges(program, env);
    const HitNeeds outputs = output_needs(program.hit);
    uses |= outputs.registers;
    needs.words = outputs.words + (by_ranges ? kRangeWords : 0);
    needs.stack_id = program.stack_at != 0;
  }
  if (program.is_return) {
    const HitNeeds condition = condition_needs(program.hit);
    uses |= condition.registers;
    const bool by_ranges = condition_uses_ranges(program, env);
    needs.words = std::max(needs.words, condition.words + (by_ranges ? kRangeWords : 0));
  }
  needs.save = uses & wanted_registers(probe, env.recorded);
  return needs;
}

// For programs that run one after the other in it.
Frame frame_of(std::span<const PadProbe> probes, const Environment& env) {
  Frame::Needs all = needs_of(probes.front(), env);
  for (const PadProbe& probe : probes.subspan(1)) {
    const Frame::Needs needs = needs_of(probe, env);
    all.skip_red_zone |= needs.skip_red_zone;
    all.flags_live |= needs.flags_live;
    all.flags_recorded |= needs.flags_recorded;
    all.save |= needs.save;
    all.words = std::max(all.words, needs.words);
    all.stack_id |= needs.stack_id;
  }
  return Frame(all);
}

// Several programs of one call know of each other. A latency is taken before the first of them, so that it
// does not grow by what they do.
Program in_company(const PadProbe& probe, std::span<const PadProbe> all, const Environment& env) {
  Program program = *probe.program;
  if (program.is_return) program.latency_in_frame = !env.monotonic;
  if (program.kind == Program::Kind::kEnter)
    for (const PadProbe& other : all.subspan(1)) program.more_switches.push_back(other.program->switch_index);
  return program;
}

// The jump that is taken where the one at the start of `bytes` is not; none: it is no jcc.
std::optional<asmjit::InstId> opposite_jump(std::span<const uint8_t> bytes) {
  const auto is_prefix = [](uint8_t b) { return b == 0x2e || b == 0x3e || b == 0xf2; };
  while (!bytes.empty() && is_prefix(bytes.front())) bytes = bytes.subspan(1);
  if (bytes.size() >= 2 && bytes[0] == 0x0f && bytes[1] >> 4 == 8) return kJumps[(bytes[1] & 15) ^ 1];
  if (!bytes.empty() && bytes[0] >> 4 == 7) return kJumps[(bytes[0] & 15) ^ 1];
  return {};
}

class PadBuilder {
 public:
  PadBuilder(TargetAddr at, const PadSite& site, const Environment& env, const AreaStubs& stubs)
      : at_(at),
        site_(site),
        env_(env),
        stubs_(stubs),
        code_(at),
        relocator_(site.lead.empty() ? site.window : site.lead, site.addr,
                   {.shadow_stack = site.shadow_stack}),
        probes_(site.probes) {}

  Result<Pad> build();

 private:
  struct Started {
    std::unique_ptr<ProgramEmitter> emitter;
    asmjit::Label done, stays;
    std::unique_ptr<EarlyCondition> condition;
  };

  Status emit_run();
  Status emit_lead();
  Status emit_copy(TargetAddr head);
  void emit_programs() { emit_programs_at(relocator_.offset()); }
  void emit_programs_at(uint64_t offset);
  void emit_all(std::span<const PadProbe> probes);
  void emit_program(std::span<const PadProbe> probes);
  void emit_jump_if_it_stays(const PadProbe& probe, asmjit::Label stays);
  void emit_way_back();
  Status finish();
  void add_head(uint64_t window_offset);

  TargetAddr at_;
  const PadSite& site_;
  const Environment& env_;
  const AreaStubs& stubs_;
  CodeBuffer code_;
  x86::Relocator relocator_;
  std::span<const PadProbe> probes_;  // those whose instruction has not come yet
  std::vector<Started> started_;
  std::deque<Program> in_company_;  // of several that belong together; emitters refer to them
  bool unknown_condition_ = false;
  Pad pad_;
};

Result<Pad> PadBuilder::build() {
  TRY_OK(site_.lead.empty() ? emit_run() : emit_lead());
  if (!probes_.empty()) return refuse("probe inside an instruction");
  if (unknown_condition_) return refuse("it is left by a conditional jump of an unusual kind");
  for (Started& s : started_) {
    s.emitter->cold(s.done);
    if (s.condition) s.condition->cold(s.stays);
  }
  TRY_OK(finish());
  return std::move(pad_);
}

Status PadBuilder::emit_run() {
  do {
    const TargetAddr head = code_.here();
    if (!probes_.empty() && probes_.front().offset == relocator_.offset()) {
      add_head(relocator_.offset());
      emit_programs();
    }
    TRY_OK(emit_copy(head));
  } while (!relocator_.done());
  if (!relocator_.falls_through()) return {};
  emit_programs();  // of a system call right behind the window
  emit_way_back();
  return {};
}

Status PadBuilder::emit_lead() {
  do TRY_OK(emit_copy(code_.here()));
  while (!relocator_.done());
  emit_programs_at(0);
  code_.assembler().jmp((site_.addr + site_.lead.size()).value);
  return {};
}

Status PadBuilder::emit_copy(TargetAddr head) {
  add_head(relocator_.offset());
  TRY(const std::vector<uint8_t> copy, relocator_.next(code_.here(), head));
  code_.assembler().embed(copy.data(), copy.size());
  return {};
}

void PadBuilder::emit_programs_at(uint64_t offset) {
  size_t count = 0;
  while (count < probes_.size() && probes_[count].offset == offset) ++count;
  emit_all(probes_.first(count));
  probes_ = probes_.subspan(count);
}

// In their order, but what belongs to one call where the first of it is.
void PadBuilder::emit_all(std::span<const PadProbe> probes) {
  for (size_t i = 0; i < probes.size(); ++i) {
    const Program& first = *probes[i].program;
    const auto is_same = [&](const PadProbe& p) {  // the entry of a function may be an exit of it
      return first.call != Program::kOwnCall && p.program->call == first.call &&
             p.program->is_return == first.is_return;
    };
    if (std::any_of(probes.begin(), probes.begin() + static_cast<ptrdiff_t>(i), is_same)) continue;
    std::vector<PadProbe> together = {probes[i]};
    std::copy_if(probes.begin() + static_cast<ptrdiff_t>(i) + 1, probes.end(), std::back_inserter(together),
                 is_same);
    emit_program(together);
  }
}

void PadBuilder::emit_program(std::span<const PadProbe> probes) {
  auto& a = code_.assembler();
  const PadProbe& probe = probes.front();
  const Frame frame = frame_of(probes, env_);
  std::vector<Emission> emissions;
  for (const PadProbe& p : probes) {
    const bool alone = probes.size() == 1;
    const Program& program = alone ? *p.program : in_company_.emplace_back(in_company(p, probes, env_));
    emissions.push_back({code_, env_, stubs_, frame, program});
  }
  const Emission& emission = emissions.front();
  Started& s = started_.emplace_back(Started{make_emitter(emissions), a.newLabel(), a.newLabel(), nullptr});
  if (probe.program->is_conditional) emit_jump_if_it_stays(probe, s.stays);
  if (!probe.program->is_return && probe.program->hit.condition != script::kNone) {
    s.condition = std::make_unique<EarlyCondition>(emission, basic_needs(probe, env_.recorded),
                                                   wanted_registers(probe, env_.recorded));
    s.condition->hot(s.stays);
  }
  frame.emit_save(a);
  s.emitter->hot(s.done);
  a.bind(s.done);
  frame.emit_restore(a);
  a.bind(s.stays);
}

void PadBuilder::emit_jump_if_it_stays(const PadProbe& probe, asmjit::Label stays) {
  const auto jump = opposite_jump(site_.window.subspan(std::min<size_t>(probe.offset, site_.window.size())));
  if (jump) code_.assembler().emit(*jump, stays);
  unknown_condition_ |= !jump;
}

void PadBuilder::emit_way_back() {
  const TargetAddr end = site_.addr + site_.window.size();
  add_head(site_.window.size());
  code_.assembler().jmp((site_.resume == TargetAddr() ? end : site_.resume).value);
}

Status PadBuilder::finish() {
  TRY(pad_.code, code_.finish());
  if (pad_.code.size() > std::numeric_limits<uint16_t>::max()) return refuse("too many probes at one place");
  TRY(const std::vector<x86::Relocator::Fixup> fixups, relocator_.fixups());
  for (const auto& f : fixups) std::memcpy(&pad_.code[f.at - at_], &f.rel32, sizeof f.rel32);
  return {};
}

void PadBuilder::add_head(uint64_t window_offset) {
  pad_.heads.emplace_back(static_cast<uint8_t>(window_offset),
                          static_cast<uint16_t>(code_.assembler().offset()));
}

// asmjit would reach farther through a table of addresses; a jump back must be a plain one.
bool in_reach(TargetAddr a, TargetAddr b) {
  constexpr uint64_t kReach = (uint64_t{1} << 31) - (1 << 16);
  return std::max(a, b) - std::min(a, b) < kReach;
}

uint64_t max_program_size(const Program& program) {
  constexpr uint64_t kCount = 304;    // frame, section, cold part, descriptor and its alignment
  constexpr uint64_t kRecord = 400;   // the same
  constexpr uint64_t kPerField = 48;  // both paths
  constexpr uint64_t kLatency = 336;  // the same
  constexpr uint64_t kStack = 96;     // on top of a record
  constexpr uint64_t kEnter = 256;
  constexpr uint64_t kReturn = 256;    // on top of what happens there
  constexpr uint64_t kHitFrame = 512;  // the same: more registers, the condition's own frame, who reads
  if (program.kind == Program::Kind::kTellLibraries) return kEnter;
  uint64_t around = program.is_return ? kReturn : 0;
  const size_t kept = program.kind == Program::Kind::kEnter ? program.hit.outputs.size() : program.kept;
  if (kept != 0) around += kMaxKeepCode + kMaxKeepValueCode * kept;
  if (!program.hit.empty()) {
    const uint64_t code = condition_needs(program.hit).code_size + output_needs(program.hit).code_size;
    around += kHitFrame + std::min(code, kMaxHitCode);  // what is larger is refused
  }
  if (program.kind == Program::Kind::kEnter) return around + kEnter;
  if (program.kind == Program::Kind::kCount) return around + kCount;
  if (program.kind == Program::Kind::kLatency) return around + kLatency;
  if (program.stack_at != 0) around += kStack;
  return around + kRecord + kPerField * program.fields.size();
}

}  // namespace

uint64_t max_pad_size(const PadSite& site) {
  constexpr uint64_t kPerByte = 5;  // loop: 2 bytes become 9
  constexpr uint64_t kLast = 40;    // a call, or the jump back
  uint64_t size = kPerByte * std::max(site.window.size(), site.lead.size()) + kLast;
  for (const PadProbe& probe : site.probes) size += max_program_size(*probe.program);
  return size;
}

Result<Pad> build_pad(TargetAddr at, const PadSite& site, const Environment& env, const AreaStubs& stubs) {
  if (!in_reach(at, site.addr)) return refuse("the pad is too far from the site");
  for (const PadProbe& probe : site.probes) TRY_OK(check_hit(*probe.program, env));
  return PadBuilder(at, site, env, stubs).build();
}

}  // namespace blip::jit
