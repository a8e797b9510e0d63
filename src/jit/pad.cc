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

// A pad, for a window of two instructions with actions on each:
//
//   save; actions of 0; restore; copy of instruction 0
//   save; actions of 1; restore; copy of instruction 1
//   jmp back
//   what the actions seldom need
//
// Each action has a frame of its own but for those of one call, which share theirs.

namespace blip::jit {

namespace {

Error refuse(const char* reason) { return Error(ErrorKind::kUnsupported, reason); }

// Actions at one point that share a frame.
using Actions = std::span<const Action* const>;

// Registers that the code or a record wants to find as they are.
uint16_t wanted_registers(const PadPoint& point, const Action& action, const Recorded& by_others) {
  return point.live_registers | recorded_by(action).registers | by_others.registers;
}

// Returns what has to be saved around any action.
Frame::Needs basic_needs(const PadPoint& point, const Action& action, const Recorded& by_others) {
  return {.skip_red_zone = point.skip_red_zone,
          .flags_live = point.flags_live || by_others.flags,
          .flags_recorded = recorded_by(action).flags};
}

Frame::Needs needs_of(const PadPoint& point, const Action& action, const ProcessEnvironment& env) {
  using asmjit::x86::Gp;
  const bool is_entry = action.effect == Effect::kEnter;
  const bool around_calls = is_entry || action.is_return;
  uint16_t uses = reg_bit(Gp::kIdAx) | reg_bit(Gp::kIdCx);
  if (action.effect != Effect::kCount || around_calls) uses |= reg_bit(Gp::kIdDx);
  if (around_calls) uses |= reg_bit(Gp::kIdSi);
  Frame::Needs needs = basic_needs(point, action, env.recorded);
  if (action.effect == Effect::kRecord || is_entry) {
    const bool by_ranges = is_entry ? keeps_by_ranges(action, env) : outputs_use_ranges(action, env);
    const HitNeeds outputs = output_needs(action.hit);
    uses |= outputs.registers;
    needs.words = outputs.words + (by_ranges ? kRangeWords : 0);
    needs.stack_id = action.stack_at != 0;
  }
  if (action.is_return) {
    const HitNeeds condition = condition_needs(action.hit);
    uses |= condition.registers;
    const bool by_ranges = condition_uses_ranges(action, env);
    needs.words = std::max(needs.words, condition.words + (by_ranges ? kRangeWords : 0));
  }
  needs.save = uses & wanted_registers(point, action, env.recorded);
  return needs;
}

// For actions that run one after the other in it.
Frame frame_of(const PadPoint& point, Actions actions, const ProcessEnvironment& env) {
  Frame::Needs all = needs_of(point, *actions.front(), env);
  for (const Action* action : actions.subspan(1)) {
    const Frame::Needs needs = needs_of(point, *action, env);
    all.flags_recorded |= needs.flags_recorded;
    all.save |= needs.save;
    all.words = std::max(all.words, needs.words);
    all.stack_id |= needs.stack_id;
  }
  return Frame(all);
}

// Several actions of one call know of each other. A latency is taken before the first of them, so that it
// does not grow by what they do.
Action in_company(const Action& alone, Actions all, const ProcessEnvironment& env) {
  Action action = alone;
  if (action.is_return) action.latency_in_frame = !env.monotonic;
  if (action.effect == Effect::kEnter)
    for (const Action* other : all.subspan(1)) action.more_switches.push_back(other->switch_index);
  return action;
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
        env_(env.process),
        channels_(env.channels),
        stubs_(stubs),
        code_(at),
        relocator_(site.lead.empty() ? site.window : site.lead, site.addr,
                   {.shadow_stack = site.shadow_stack}),
        points_(site.points) {}

  Result<Pad> build();

 private:
  struct Started {
    std::unique_ptr<ActionEmitter> emitter;
    asmjit::Label done, stays;
    std::unique_ptr<EarlyCondition> condition;
  };

  Status emit_run();
  Status emit_lead();
  Status emit_copy(TargetAddr head);
  bool is_point(uint64_t offset) const { return !points_.empty() && points_.front().offset == offset; }
  void emit_point_at(uint64_t offset);
  void emit_actions(const PadPoint& point);
  void emit_together(const PadPoint& point, Actions actions);
  void emit_jump_if_it_stays(const PadPoint& point, asmjit::Label stays);
  void emit_way_back();
  Status finish();
  void add_head(uint64_t window_offset);

  TargetAddr at_;
  const PadSite& site_;
  const ProcessEnvironment& env_;
  const std::vector<ChannelEnvironment>& channels_;
  const AreaStubs& stubs_;
  CodeBuffer code_;
  x86::Relocator relocator_;
  std::span<const PadPoint> points_;  // those whose instruction has not come yet
  std::vector<Started> started_;
  std::deque<Action> in_company_;  // of several that belong together; emitters refer to them
  bool unknown_condition_ = false;
  Pad pad_;
};

Result<Pad> PadBuilder::build() {
  TRY_OK(site_.lead.empty() ? emit_run() : emit_lead());
  if (!points_.empty()) return refuse("probe inside an instruction");
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
    if (is_point(relocator_.offset())) {
      add_head(relocator_.offset());
      emit_point_at(relocator_.offset());
    }
    TRY_OK(emit_copy(head));
  } while (!relocator_.done());
  if (!relocator_.falls_through()) return {};
  emit_point_at(relocator_.offset());  // of a system call right behind the window
  emit_way_back();
  return {};
}

Status PadBuilder::emit_lead() {
  do TRY_OK(emit_copy(code_.here()));
  while (!relocator_.done());
  emit_point_at(0);
  code_.assembler().jmp((site_.addr + site_.lead.size()).value);
  return {};
}

Status PadBuilder::emit_copy(TargetAddr head) {
  add_head(relocator_.offset());
  TRY(const std::vector<uint8_t> copy, relocator_.next(code_.here(), head));
  code_.assembler().embed(copy.data(), copy.size());
  return {};
}

void PadBuilder::emit_point_at(uint64_t offset) {
  if (!is_point(offset)) return;
  emit_actions(points_.front());
  points_ = points_.subspan(1);
}

// In their order, but what belongs to one call where the first of it is.
void PadBuilder::emit_actions(const PadPoint& point) {
  const std::vector<const Action*>& all = point.actions;
  for (auto first = all.begin(); first != all.end(); ++first) {
    const auto is_same = [&](const Action* other) {  // the entry of a function may be an exit of it
      return (*first)->call != Action::kOwnCall && other->call == (*first)->call &&
             other->is_return == (*first)->is_return;
    };
    if (std::any_of(all.begin(), first, is_same)) continue;
    std::vector<const Action*> together = {*first};
    std::copy_if(first + 1, all.end(), std::back_inserter(together), is_same);
    emit_together(point, together);
  }
}

void PadBuilder::emit_together(const PadPoint& point, Actions actions) {
  auto& a = code_.assembler();
  const Action& first = *actions.front();
  const Frame frame = frame_of(point, actions, env_);
  std::vector<Emission> emissions;
  for (const Action* one : actions) {
    const bool alone = actions.size() == 1;
    const Action& action = alone ? *one : in_company_.emplace_back(in_company(*one, actions, env_));
    emissions.push_back({code_, env_, channels_[action.channel], stubs_, frame, action});
  }
  const Emission& emission = emissions.front();
  Started& s = started_.emplace_back(Started{make_emitter(emissions), a.newLabel(), a.newLabel(), nullptr});
  if (first.is_conditional) emit_jump_if_it_stays(point, s.stays);
  if (!first.is_return && first.hit.condition != script::kNone) {
    s.condition = std::make_unique<EarlyCondition>(emission, basic_needs(point, first, env_.recorded),
                                                   wanted_registers(point, first, env_.recorded));
    s.condition->hot(s.stays);
  }
  frame.emit_save(a);
  s.emitter->hot(s.done);
  a.bind(s.done);
  frame.emit_restore(a);
  a.bind(s.stays);
}

void PadBuilder::emit_jump_if_it_stays(const PadPoint& point, asmjit::Label stays) {
  const auto jump = opposite_jump(site_.window.subspan(std::min<size_t>(point.offset, site_.window.size())));
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

uint64_t max_action_size(const Action& action) {
  constexpr uint64_t kCount = 336;    // frame, section, cold part, descriptor and its alignment
  constexpr uint64_t kRecord = 416;   // the same
  constexpr uint64_t kPerField = 48;  // both paths
  constexpr uint64_t kLatency = 352;  // the same
  constexpr uint64_t kStack = 96;     // on top of a record
  constexpr uint64_t kEnter = 256;
  constexpr uint64_t kReturn = 256;    // on top of what happens there
  constexpr uint64_t kHitFrame = 512;  // the same: more registers, the condition's own frame, who reads
  if (action.effect == Effect::kTellLibraries) return kEnter;
  uint64_t around = action.is_return ? kReturn : 0;
  const size_t kept = action.effect == Effect::kEnter ? action.hit.outputs.size() : action.kept;
  if (kept != 0) around += kMaxKeepCode + kMaxKeepValueCode * kept;
  if (!action.hit.empty()) {
    const uint64_t code = condition_needs(action.hit).code_size + output_needs(action.hit).code_size;
    around += kHitFrame + std::min(code, kMaxHitCode);  // what is larger is refused
  }
  if (action.effect == Effect::kEnter) return around + kEnter;
  if (action.effect == Effect::kCount) return around + kCount;
  if (action.effect == Effect::kLatency) return around + kLatency;
  if (action.stack_at != 0) around += kStack;
  return around + kRecord + kPerField * action.fields.size();
}

}  // namespace

uint64_t max_pad_size(const PadSite& site) {
  constexpr uint64_t kPerByte = 5;  // loop: 2 bytes become 9
  constexpr uint64_t kLast = 40;    // a call, or the jump back
  uint64_t size = kPerByte * std::max(site.window.size(), site.lead.size()) + kLast;
  for (const PadPoint& point : site.points)
    for (const Action* action : point.actions) size += max_action_size(*action);
  return size;
}

Result<Pad> build_pad(TargetAddr at, const PadSite& site, const Environment& env, const AreaStubs& stubs) {
  if (!in_reach(at, site.addr)) return refuse("the pad is too far from the site");
  for (const PadPoint& point : site.points)
    for (const Action* action : point.actions) TRY_OK(check_hit(*action, env.process));
  return PadBuilder(at, site, env, stubs).build();
}

}  // namespace blip::jit
