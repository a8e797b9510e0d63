// SPDX-License-Identifier: MIT
#include "session/script_sampler.h"

#include <algorithm>

#include "abi/layout.h"
#include "probe/code/module.h"
#include "proc/files/maps.h"
#include "session/symbolize/unwind_tables.h"

namespace blip::session {

namespace {

using Kind = script::WantedProbe::Kind;

constexpr uint32_t kStackBytes = 8192;
constexpr uint32_t kNoStackBytes = 8;

}  // namespace

Result<std::unique_ptr<ScriptSampler>> ScriptSampler::start(const proc::Process& process, Engine& engine) {
  const auto& probes = engine.script().probes();
  const auto is_profile = [](const script::WantedProbe& p) { return p.kind == Kind::kProfile; };
  if (std::none_of(probes.begin(), probes.end(), is_profile)) return std::unique_ptr<ScriptSampler>();
  TRY(proc::Memory memory, proc::Memory::open_read_only(process.pid()));
  std::unique_ptr<ScriptSampler> made(new ScriptSampler(process.pid(), std::move(memory), engine));
  TRY_OK(made->look_at_files(process));
  for (size_t i = 0; i < probes.size(); ++i)
    if (is_profile(probes[i])) TRY_OK(made->add_probe(i, probes[i]));
  return made;
}

ScriptSampler::~ScriptSampler() {
  for (const Probe& probe : probes_)
    for (const HitQueue::Ring ring : probe.rings) engine_.close_ring(ring);
}

Status ScriptSampler::look_at_files(const proc::Process& process) {
  TRY(const std::vector<proc::Map> maps, proc::read_maps(pid_));
  TRY(const probe::LoadedModules loaded, probe::load_modules(process, memory_, maps));
  auto vdso = find_vdso(memory_, maps);
  for (const probe::Module& module : loaded.modules) names_.add(module);
  if (vdso) names_.add(*vdso);
  const auto& probes = engine_.script().probes();
  if (std::none_of(probes.begin(), probes.end(),
                   [](const script::WantedProbe& p) { return p.kind == Kind::kProfile && p.uses_stack; }))
    return {};
  TRY(stacks_, SampledStacks::create(loaded.modules, std::move(vdso)));
  return {};
}

Status ScriptSampler::add_probe(size_t number, const script::WantedProbe& probe) {
  TRY(std::unique_ptr<perf::Sampler> sampler,
      perf::Sampler::start(
          pid_, {.period = probe.period, .stack_bytes = probe.uses_stack ? kStackBytes : kNoStackBytes}));
  probes_.push_back({.number = number, .sampler = std::move(sampler), .rings = {}});
  return {};
}

void ScriptSampler::drain() {
  for (Probe& probe : probes_) probe.sampler->drain([&](const perf::Sample& sample) { take(probe, sample); });
}

void ScriptSampler::take(Probe& probe, const perf::Sample& sample) {
  constexpr uint32_t kMostCpus = 1 << 16;
  if (sample.cpu >= kMostCpus) return;
  while (probe.rings.size() <= sample.cpu) probe.rings.push_back(engine_.open_ring());
  engine_.add_own(probe.rings[sample.cpu],
                  {.probe = probe.number,
                   .time_ns = sample.time_ns,
                   .pid = static_cast<int32_t>(sample.pid),
                   .tid = static_cast<int32_t>(sample.tid),
                   .cpu = sample.cpu,
                   .stack = engine_.script().probes()[probe.number].uses_stack ? stack_of(sample) : 0});
}

// A sample without registers has an empty stack.
uint64_t ScriptSampler::stack_of(const perf::Sample& sample) {
  frames_.clear();
  if (stacks_ && sample.has_registers)
    for (const unwind::StackFrame& frame : stacks_->walk(sample, abi::kMaxStackDepth).frames)
      frames_.push_back(frame.address.value);
  return engine_.number_of_stack(static_cast<int32_t>(sample.pid), frames_);
}

uint64_t ScriptSampler::lost() const {
  uint64_t all = 0;
  for (const Probe& probe : probes_) all += probe.sampler->lost() + probe.sampler->throttled();
  return all;
}

}  // namespace blip::session
