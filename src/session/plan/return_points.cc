// SPDX-License-Identifier: MIT
#include "session/plan/return_points.h"

#include <fmt/core.h>

#include <map>
#include <optional>

#include "base/parallel.h"
#include "base/progress.h"
#include "probe/code/exits.h"
#include "script/ir/verify.h"

namespace blip::session {

namespace {

using Role = ProbePoint::Role;

constexpr size_t kFunctionsPerPiece = 64;

class Expander {
 public:
  Expander(const Options& options, std::span<const Target> targets, std::span<const probe::Module> modules)
      : options_(options), targets_(targets), modules_(modules) {}

  ExpandedTargets run() {
    result_.refused.resize(targets_.size());
    find_exits();
    result_.points.reserve(number_of_points());
    for (size_t i = 0; i < targets_.size(); ++i) {
      if (options_.probes[targets_[i].request].kind == ProbeKind::kReturn) {
        result_.refused[i] = add_calls(i);
        if (!exits_.empty()) exits_[i].reset();
      } else {
        result_.points.push_back({.target = i, .point = targets_[i].point});
      }
    }
    return std::move(result_);
  }

 private:
  // This takes the time: every instruction of the functions is followed.
  void find_exits() {
    std::vector<size_t> wanted;
    for (size_t i = 0; i < targets_.size(); ++i) {
      if (options_.probes[targets_[i].request].kind != ProbeKind::kReturn) continue;
      if (options_.backend == Backend::kUprobe || modules_[targets_[i].module].file().is_go()) continue;
      finders_.try_emplace(targets_[i].module, modules_[targets_[i].module]);
      wanted.push_back(i);
    }
    exits_.resize(wanted.empty() ? 0 : targets_.size());
    const progress::Step step(fmt::format("looking for the exits of {} functions", wanted.size()));
    parallel_pieces(wanted.size(), kFunctionsPerPiece, [&](size_t begin, size_t end) {
      for (size_t k = begin; k < end; ++k) {
        const Target& t = targets_[wanted[k]];
        const probe::ExitFinder& finder = finders_.at(t.module);
        if (!finder.is_no_function(t.point.function)) exits_[wanted[k]] = finder.exits_of(t.point.function);
      }
    });
  }

  size_t number_of_points() const {
    size_t count = targets_.size();
    for (const auto& exits : exits_) count += exits ? exits->exits.size() : 0;
    return count;
  }

  // Why not, or nothing.
  std::string add_calls(size_t target) {
    const Target& t = targets_[target];
    if (modules_[t.module].file().is_go())
      return "Go moves the stacks of goroutines while calls are open: an entry cannot be told from another";
    if (options_.backend == Backend::kUprobe)
      return "returns are found by jumps into pads: omit --backend uprobe";
    if (!exits_[target]) return "it is no function that is called, but a part of one";
    const probe::FunctionExits& found = *exits_[target];
    if (!found.complete()) return "not all of its exits are known: " + found.incomplete;
    if (found.never_returns()) return "it never returns: nothing in it leads out";
    result_.points.push_back({.target = target, .point = t.point, .role = Role::kEnter});
    for (const probe::Exit& exit : found.exits)
      result_.points.push_back(
          {.target = target,
           .point = {.addr = exit.at, .is_entry = false, .function = exit.holder},
           .role = exit.kind == probe::ExitKind::kReturn ? Role::kReturn : Role::kTailJump,
           .is_conditional = exit.conditional});
    return {};
  }

  const Options& options_;
  std::span<const Target> targets_;
  std::span<const probe::Module> modules_;
  std::map<size_t, probe::ExitFinder> finders_;             // by module
  std::vector<std::optional<probe::FunctionExits>> exits_;  // by target; nothing: it is no function
  ExpandedTargets result_;
};

}  // namespace

ExpandedTargets expand_targets(const Options& options, std::span<const Target> targets,
                               std::span<const probe::Module> modules) {
  return Expander(options, targets, modules).run();
}

namespace {

// If there is a result, nothing has to be looked at before it is taken.
void settle_result(script::HitProgram& hit) {
  const auto settle = [&](uint32_t& node) {
    while (node != script::kNone && hit.code.nodes[node].op == script::Op::kReturned)
      node = hit.code.nodes[node].a;
  };
  for (script::Node& n : hit.code.nodes) {
    uint32_t* const operands[] = {&n.a, &n.b, &n.c};
    for (unsigned i = 0; i < script::arity(n.op); ++i) settle(*operands[i]);
  }
  settle(hit.condition);
  for (script::Output& output : hit.outputs) {
    settle(output.node);
    if (output.has_length()) settle(output.length);
  }
}

}  // namespace

void tell_rate(std::span<probe::Probe> probes, uint64_t latency_rate) {
  for (probe::Probe& probe : probes)
    for (script::Node& n : probe.action.hit.code.nodes)
      if (n.op == script::Op::kLatency) n.value = latency_rate;
}

jit::Action action_at(const ProbePoint& point, const jit::Action& action, const script::HitProgram& kept,
                      uint64_t ip) {
  if (point.role == Role::kHit) return action;
  if (point.role == Role::kEnter)
    return {
        .effect = jit::Effect::kEnter, .class_id = action.class_id, .hit = kept, .frame_id = action.class_id};
  jit::Action result = action;
  result.is_return = true;
  result.is_conditional = point.is_conditional;
  result.frame_id = action.class_id;
  if (result.stack_at != 0) result.stack_at = ip;
  result.kept = static_cast<uint32_t>(kept.outputs.size());
  const bool is_tail = result.is_tail = point.role == Role::kTailJump;
  if (!is_tail) settle_result(result.hit);
  for (jit::Field& field : result.fields) {
    if (field.capture == jit::Capture::kConstant) field.value = ip;
    if (field.capture == jit::Capture::kShortConstant) field.value = is_tail;
    if (field.is_result && is_tail) {
      field.capture = jit::Capture::kConstant;
      field.value = 0;
    }
  }
  return result;
}

}  // namespace blip::session
