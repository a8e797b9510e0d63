// SPDX-License-Identifier: MIT
#include "session/process/uprobe_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <map>

#include "proc/files/cpu.h"

namespace blip::session {

namespace {

constexpr uint64_t kLeastRing = 64 << 10;
constexpr uint64_t kMostRing = uint64_t{1} << 30;

bool wants_registers(const jit::Action& action) {
  return std::any_of(action.fields.begin(), action.fields.end(), [](const jit::Field& f) {
    return f.capture == jit::Capture::kRegister || f.capture == jit::Capture::kFlags;
  });
}

// One ring serves all CPUs.
Result<uint32_t> all_rings(uint64_t ring_size) {
  TRY(const std::vector<unsigned> cpus, proc::online_cpus());
  return static_cast<uint32_t>(std::clamp(std::bit_ceil(ring_size * cpus.size()), kLeastRing, kMostRing));
}

}  // namespace

Result<std::unique_ptr<UprobeSource>> UprobeSource::arm(const proc::Process& process,
                                                        const proc::Memory& memory, std::vector<Probe> probes,
                                                        uint64_t ring_size, const DrainInput& input) {
  std::unique_ptr<UprobeSource> self(new UprobeSource(std::move(probes)));
  std::vector<probe::UprobePoint> places;
  std::map<TargetAddr, size_t> known;
  probe::Uprobes::Options options{.counts = ring_size == 0};
  for (const Probe& probe : self->probes_) {
    if (probe.refused) continue;
    const auto [point, is_new] = known.try_emplace(probe.addr, places.size());
    if (is_new) {
      places.push_back({.addr = probe.addr, .events = 0});
      self->points_.emplace_back();
    }
    ++places[point->second].events;
    self->points_[point->second].push_back(&probe.action);
    self->points_of_class_.emplace(probe.action.class_id, point->second);
    options.registers = options.registers || wants_registers(probe.action);
  }
  TRY(options.ring_size, all_rings(ring_size));
  TRY(self->uprobes_, probe::Uprobes::arm(process, memory, places, options));
  for (const auto& [point, reason] : self->uprobes_->refused())
    for (size_t i = 0; i < self->probes_.size(); ++i)
      if (self->probes_[i].addr == places[point].addr && !self->probes_[i].refused)
        self->report_.refused.emplace_back(i, reason);
  self->report_.notes.push_back(
      fmt::format("kernel uprobes on {} places; nothing in the process is stopped or changed by blip",
                  places.size() - self->uprobes_->refused().size()));
  self->drain_.emplace(input, *self->uprobes_, self->points_, ring_size);
  return self;
}

uint64_t UprobeSource::class_hits(uint32_t class_id) const {
  uint64_t hits = 0;
  const auto [first, last] = points_of_class_.equal_range(class_id);
  for (auto at = first; at != last; ++at) hits += uprobes_->entry(at->second).hits;
  return hits;
}

Result<probe::RemovalReport> UprobeSource::disarm() {
  uprobes_->disarm();
  return probe::RemovalReport{};
}

}  // namespace blip::session
