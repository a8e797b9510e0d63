// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "perf/sampler.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"
#include "session/run/engine.h"
#include "session/sampling/sampled_stacks.h"
#include "session/symbolize/frame_names.h"

namespace blip::session {

// Samples a process, and the children that it will have, for the profile probes of a script. Nothing in the process is changed.
class ScriptSampler {
 public:
  // Null: the script has no such probe. The engine outlives it.
  static Result<std::unique_ptr<ScriptSampler>> start(const proc::Process& process, Engine& engine);
  ~ScriptSampler();

  // Hands the samples up to now to the engine.
  void drain();
  uint64_t lost() const;
  pid_t pid() const { return pid_; }
  // What lies at the addresses of its stacks.
  FrameNames& names() { return names_; }

 private:
  struct Probe {
    size_t number;  // of the script
    std::unique_ptr<perf::Sampler> sampler;
    std::vector<HitQueue::Ring> rings;  // by CPU
  };

  ScriptSampler(pid_t pid, proc::Memory memory, Engine& engine)
      : pid_(pid), memory_(std::move(memory)), engine_(engine) {}

  Status add_probe(size_t number, const script::WantedProbe& probe);
  // Its files, as they are now.
  Status look_at_files(const proc::Process& process);
  void take(Probe& probe, const perf::Sample& sample);
  uint64_t stack_of(const perf::Sample& sample);

  const pid_t pid_;
  proc::Memory memory_;
  Engine& engine_;
  std::vector<Probe> probes_;
  std::unique_ptr<SampledStacks> stacks_;  // if a handler asks for them
  FrameNames names_;
  std::vector<uint64_t> frames_;  // kept from one sample to the next
};

}  // namespace blip::session
