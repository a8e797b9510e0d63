// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "perf/event_ring.h"
#include "perf/sample.h"

namespace blip::perf {

// Samples the threads of a process, and those of the children that it will have: each time one of them has used up another
// period of CPU time, the kernel notes what it was doing. Nothing in the process is stopped or changed. See
// docs/design/sampling.md.
class Sampler {
 public:
  struct Options {
    std::chrono::nanoseconds period{10'101'010};  // of the CPU time of a thread: 99 a second
    uint32_t stack_bytes = 8192;                  // of each sample, at most; a multiple of 8
    bool follow_children = true;
    size_t ring_pages = 128;  // of each CPU: what perf_event_mlock_kb allows everybody
  };

  // kPermission: the kernel does not allow it; the message names the setting.
  static Result<std::unique_ptr<Sampler>> start(pid_t pid, const Options& options);

  // Calls sink(const Sample&) for every sample up to now: those of one CPU in the order of time. Returns the bytes.
  template <class Sink>
  uint64_t drain(Sink&& sink);

  // Samples for which a ring had no room. Exact since Linux 6.0; before, those after the last record of a CPU are not known.
  uint64_t lost() const;
  // The kernel's own limit of samples per second (kernel.perf_event_max_sample_rate) cut some off.
  uint64_t throttled() const { return throttled_; }
  // Samples are also taken while the kernel works for a thread; false: the kernel forbids that to blip.
  bool sees_kernel() const { return !options_.exclude_kernel; }
  // Becomes readable when a ring is half full; one for each CPU.
  std::vector<int> poll_fds() const;

  void stop();

 private:
  struct Attributes : Options {
    bool exclude_kernel = false;
    bool tells_lost = true;  // Linux 6.0
  };
  struct Cpu {
    unsigned number;
    std::vector<Fd> events;
    std::unique_ptr<EventRing> ring;  // the first one's
    uint64_t lost = 0;                // as its records tell
  };

  Sampler(pid_t pid, const Options& options) : pid_(pid), options_{options} {}

  Status attach();
  Result<bool> attach_new_threads();
  Status attach_thread(pid_t tid);
  Status attach_on(Cpu& cpu, pid_t tid);
  Result<Fd> open_event(pid_t tid, unsigned cpu);
  bool is_wanted(const Sample& sample) const {
    return options_.follow_children || sample.pid == static_cast<uint32_t>(pid_);
  }
  void note(Cpu& cpu, const perf_event_header& header, std::span<const uint8_t> body);
  void note_births();
  uint64_t lost_of(const Cpu& cpu) const;

  const pid_t pid_;
  Attributes options_;
  std::vector<Cpu> cpus_;
  std::set<pid_t> attached_;   // by events of their own
  std::set<pid_t> inherited_;  // threads that the kernel said were born to those
  uint64_t throttled_ = 0;
};

template <class Sink>
uint64_t Sampler::drain(Sink&& sink) {
  uint64_t bytes = 0;
  for (Cpu& cpu : cpus_) {
    if (!cpu.ring) continue;
    bytes += cpu.ring->drain([&](const perf_event_header& header, std::span<const uint8_t> body) {
      if (header.type != PERF_RECORD_SAMPLE) return note(cpu, header, body);
      const bool in_kernel = (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
      const auto sample = read_sample(body, in_kernel);
      if (sample && is_wanted(*sample)) sink(*sample);
    });
  }
  return bytes;
}

}  // namespace blip::perf
