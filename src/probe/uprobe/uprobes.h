// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/addr.h"
#include "base/fd.h"
#include "base/result.h"
#include "probe/uprobe/uprobe_places.h"
#include "probe/uprobe/uprobe_program.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"

namespace blip::probe {

struct UprobePoint {
  TargetAddr addr;
  uint32_t events = 1;  // that come of one hit
};

// Probes that the kernel keeps in one process: breakpoints on file offsets, each of which runs a small
// program (uprobe_program.h) in whatever thread of the process comes along, old or new. Its children
// are left out. Nothing in the process is stopped or called; a blip that is
// killed leaves nothing behind. Needs root, or CAP_PERFMON and CAP_BPF. See docs/design/uprobes.md.
class Uprobes {
 public:
  struct Options {
    bool counts = false;     // only count; else hits go to the ring
    bool registers = false;  // hits carry them
    uint32_t ring_size = 0;  // of all CPUs, a power of two
    bool links = true;       // where the kernel has them; false: as before Linux 6.10
  };

  // `points`: instructions, each once. A point that the kernel or the code in memory forbids is
  // refused alone; on an error nothing is left.
  static Result<std::unique_ptr<Uprobes>> arm(const proc::Process& process, const proc::Memory& memory,
                                              std::span<const UprobePoint> points, const Options& options);
  ~Uprobes();

  // Index into points, reason.
  const std::vector<std::pair<size_t, std::string>>& refused() const { return refused_; }

  // Calls sink(const UprobeHit&) for every hit up to now, nearly in the order of time; without
  // Options::registers the hit has none. Returns the bytes.
  template <class Sink>
  uint64_t drain(Sink&& sink);

  // After a drain: hits are missing behind one that a CPU is still writing.
  bool stopped_early() const { return maps_->ring.stopped_early(); }

  UprobeEntry entry(size_t point) const;
  std::vector<uint64_t> discarded_by_cpu() const;

  // Before Linux 6.10 the kernel ties uprobes to one thread. If that has ended they are tied to another one:
  // true, hits in between may be missing. To be called now and then.
  Result<bool> follow_threads();
  // From here on hits do nothing; then the breakpoints go.
  void disarm();

 private:
  Uprobes(const proc::Process& process, std::span<const UprobePoint> points, const Options& options)
      : process_(process), points_(points.begin(), points.end()), options_(options) {}

  std::vector<TargetAddr> addresses() const;
  Status make_maps();
  Status attach();
  Status attach_events();
  Status attach_links();
  Status link(const std::string& path, std::span<const size_t> points);
  void refuse(size_t point, int error);
  Result<Fd> open_event(const UprobePlace& place) const;
  Status set_running(bool running) const;

  const proc::Process& process_;
  std::vector<UprobePoint> points_;
  Options options_;
  std::optional<UprobeMaps> maps_;
  Fd program_;
  std::vector<UprobePlace> places_;  // by point
  bool linked_ = false;              // by links that hold for all threads; else by one event per point
  int event_type_ = 0;               // of the kernel's uprobe PMU
  pid_t thread_ = 0;                 // the one that the events belong to
  std::vector<Fd> fds_;              // links, or events
  std::vector<std::pair<size_t, std::string>> refused_;
};

template <class Sink>
uint64_t Uprobes::drain(Sink&& sink) {
  if (options_.counts) return 0;
  return maps_->ring.drain([&](const uint8_t* record, uint32_t size) {
    UprobeHit hit{};
    std::memcpy(&hit, record, size < sizeof hit ? size : sizeof hit);
    sink(hit);
  });
}

}  // namespace blip::probe
