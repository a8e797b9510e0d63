// SPDX-License-Identifier: MIT
#include "session/script_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "ctf/clock.h"
#include "session/run/hit_sink.h"

namespace blip::session {

namespace {

constexpr size_t kMostGone = 256;  // processes whose names are kept
constexpr uint64_t kNsPerMs = 1'000'000;
// From when the kernel takes the time of a sample until the sample is in its ring.
constexpr uint64_t kSampleDelayNs = 10 * kNsPerMs;

}  // namespace

ScriptRun::ScriptRun(Engine& engine) : engine_(engine) { engine_.begin(ctf::HostClocks::monotonic_ns()); }

void ScriptRun::add(TracedProcess& process) {
  const proc::Process& p = process.process();
  process.events().add_sink(std::make_unique<HitSink>(engine_, p.pid(), p.ns_pid()));
}

Status ScriptRun::sample(const proc::Process& process) {
  auto sampler = ScriptSampler::start(process, engine_);
  if (!sampler && sampler.error().kind() == ErrorKind::kGone) return {};
  if (!sampler) return sampler.error();
  if (*sampler) samplers_.push_back(*std::move(sampler));
  return {};
}

void ScriptRun::drain_samples() {
  for (const auto& sampler : samplers_) sampler->drain();
}

// A process begins when it is found, when it is forked and with each program; its first thread is the process.
void ScriptRun::add(const LifeEvent& event) {
  using Kind = script::WantedProbe::Kind;
  const bool is_first = event.vtid == event.vpid;
  const auto add = [&](Kind kind) {
    engine_.add_life({.kind = kind, .time_ns = event.time_ns, .pid = event.vpid, .tid = event.vtid});
  };
  switch (event.kind) {
    case LifeEvent::kProcessBegin:
    case LifeEvent::kFork:
    case LifeEvent::kExec:
      return add(Kind::kProcessBegin);
    case LifeEvent::kProcessEnd:
      return add(Kind::kProcessEnd);
    case LifeEvent::kThreadBegin:
      return is_first ? void() : add(Kind::kThreadBegin);
    case LifeEvent::kThreadEnd:
      return is_first ? void() : add(Kind::kThreadEnd);
    default:
      return;
  }
}

void ScriptRun::keep_names(TracedProcess& process) {
  const auto sampler = std::find_if(samplers_.begin(), samplers_.end(),
                                    [&](const auto& s) { return s->pid() == process.process().pid(); });
  if (sampler != samplers_.end()) {
    (*sampler)->drain();
    lost_samples_ += (*sampler)->lost();
    samplers_.erase(sampler);
  }
  gone_.emplace_back(process.process().pid(), std::move(process.frame_names()));
  if (gone_.size() > kMostGone) gone_.pop_front();
}

bool ScriptRun::run_until(uint64_t ns) {
  if (!samplers_.empty()) ns -= std::min(ns, kSampleDelayNs);
  until_ = std::max(until_, ns);
  engine_.run_until(until_);
  return !engine_.is_held_up();
}

// At least one, so that a timer that waits for its records does not keep blip awake.
std::optional<std::chrono::milliseconds> ScriptRun::time_until_due() const {
  const auto due = engine_.next_due();
  if (!due) return std::nullopt;
  const uint64_t now = ctf::HostClocks::monotonic_ns();
  return std::chrono::milliseconds(*due > now ? (*due - now + kNsPerMs - 1) / kNsPerMs : 1);
}

void ScriptRun::end(Totals& totals) {
  drain_samples();
  for (const auto& sampler : samplers_) lost_samples_ += sampler->lost();
  totals.add({.discarded = lost_samples_});
  engine_.end(ctf::HostClocks::monotonic_ns());
  const EngineTotals& ran = engine_.totals();
  totals.add({.events = ran.hits, .malformed = ran.malformed});
  if (ran.late != 0)
    totals.add_warning(fmt::format(
        "{} hits were handled after younger ones: threads were held up in the middle of them for longer than "
        "blip waits",
        ran.late));
  if (ran.stackless != 0)
    totals.add_warning(
        fmt::format("{} hits have no stack: there were too many different ones", ran.stackless));
  if (engine_.timers_left_out() != 0)
    totals.add_warning(fmt::format("{} times a timer was due while blip did not run, and was left out",
                                   engine_.timers_left_out()));
}

// A child that was forked has what its parent has.
const std::vector<NamedFrame>& ScriptRun::names_at(const Roster::Processes& live, pid_t pid,
                                                   uint64_t address) const {
  static const std::vector<NamedFrame> unknown(1);
  for (const auto& process : live)
    if (process->process().pid() == pid) return process->frame_names().of(address, false);
  for (auto gone = gone_.rbegin(); gone != gone_.rend(); ++gone)
    if (gone->first == pid) return gone->second.of(address, false);
  for (const auto& sampler : samplers_)
    if (sampler->pid() == pid || sampler->names().has(address)) return sampler->names().of(address, false);
  for (const auto& process : live)
    if (process->frame_names().has(address)) return process->frame_names().of(address, false);
  for (auto gone = gone_.rbegin(); gone != gone_.rend(); ++gone)
    if (gone->second.has(address)) return gone->second.of(address, false);
  return unknown;
}

}  // namespace blip::session
