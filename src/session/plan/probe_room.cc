// SPDX-License-Identifier: MIT
#include "session/plan/probe_room.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "proc/files/cpu.h"
#include "session/plan/classes.h"
#include "session/plan/purpose.h"
#include "session/plan/requests.h"
#include "session/symbolize/unwind_tables.h"

namespace blip::session {

namespace {

constexpr uint64_t kLeastSharedRing = 1 << 20, kMostEarlyRing = 32 << 20;
constexpr uint32_t kUnusedSubbuf = 4096;
constexpr uint32_t kMinSlotSize = 64;

// Room that is set aside at the start, by what may come.
constexpr size_t kMostLayouts = 4096;  // of events that share a class where they look the same
constexpr size_t kLeastSpareProbes = 2048, kMostSpareProbes = 1 << 20;
constexpr size_t kPointsPerCall = 16;  // the entry and the exits of a function, more than most have
// In bytes; with a --max-probes of the user's own there may be more.
constexpr uint64_t kUnaskedHistograms = 256 << 20, kHistogramMargin = 16 << 20;

// How many may come with libraries: as many as the user allows. Room is addresses only, until somebody is there.
size_t late_targets(const Options& options, const RequestMask& late, size_t targets) {
  if (std::find(late.begin(), late.end(), true) == late.end()) return 0;
  return options.max_probes - std::min<size_t>(options.max_probes, targets);
}

// Their memory is used only when they are, but all of it is mapped.
size_t late_histograms(const Options& options, size_t classes) {
  const auto cpus = proc::possible_cpus();
  const uint64_t each =
      (sizeof(abi::LatencyTotals) + abi::kLatencyBuckets * 8) * (cpus.value_or(1) + uint64_t{1});
  const bool asked = options.max_probes > Options().max_probes;
  const uint64_t used = each * classes + kHistogramMargin;
  const uint64_t left = abi::kMaxLatencyBytes - std::min(used, abi::kMaxLatencyBytes);
  return (asked ? left : std::min(left, kUnaskedHistograms)) / each;
}

// Events of many functions share a class, unless they show different data; counts never do.
uint32_t spare_classes(const Options& options, size_t likely, size_t used) {
  size_t spare = likely;
  if (makes_events(options))
    spare = std::min(spare,
                     kMaxOwnClasses + (any_asks(options, shows_data) ? kMostLayouts : options.probes.size()));
  if (options.latencies) spare = std::min(spare, late_histograms(options, used));
  const size_t most = most_classes(options);
  return static_cast<uint32_t>(std::min(spare, most - std::min(used, most)));
}

// Programs without restartable sequences (musl, Go) have nothing else. Before a program has them nobody reads
// it either: then it has the memory that all the rings would have.
uint64_t shared_ring_size(const Options& options, const RegionNeeds& needs) {
  const uint64_t one = uint64_t{options.subbuf_count} * needs.subbuf_size;
  if (!needs.rings_unused) return std::max(kLeastSharedRing, one);
  const auto cpus = proc::online_cpus();
  const uint64_t all = one * (cpus ? cpus->size() : 1);
  return std::max({kLeastSharedRing, one, std::min(all, kMostEarlyRing)});
}

}  // namespace

Status check_number(const Options& options, size_t targets) {
  if (targets <= options.max_probes) return check_histograms(options, targets);
  const bool functions_only = std::all_of(
      options.probes.begin(), options.probes.end(),
      [](const ProbeRequest& r) { return r.kind == ProbeKind::kFunction || r.kind == ProbeKind::kReturn; });
  return Error(ErrorKind::kUsage,
               fmt::format("{} {} match, more than {}: say --max-probes {} if you mean it", targets,
                           functions_only ? "functions" : "instructions", options.max_probes, targets));
}

Status check_histograms(const Options& options, size_t functions) {
  if (!options.latencies) return {};
  TRY(const unsigned cpus, proc::possible_cpus());
  const abi::Geometry g{.ring_count = cpus,
                        .class_count = static_cast<uint32_t>(functions) + abi::kFirstClass,
                        .latencies = true};
  const uint64_t bytes = g.latency_row_size() * (uint64_t{cpus} + 1);
  if (bytes <= abi::kMaxLatencyBytes) return {};
  return Error(
      ErrorKind::kUsage,
      fmt::format("--latency: the histograms of {} functions on {} CPUs would take {} MiB, and {} are "
                  "allowed: name fewer functions",
                  functions, cpus, bytes >> 20, abi::kMaxLatencyBytes >> 20));
}

size_t most_classes(const Options& options) {
  if (makes_events(options)) return abi::kMaxClasses - abi::kFirstClass;
  const auto cpus = proc::possible_cpus();
  const uint64_t bytes_each = abi::kCounterKinds * (cpus.value_or(1) + uint64_t{1}) * sizeof(uint64_t);
  return std::min<uint64_t>(abi::kMaxCounted, (abi::kMaxCounterBytes >> 1) / bytes_each) - abi::kFirstClass;
}

SpareRoom spare_room(const Options& options, const RequestMask& late, size_t targets, size_t classes) {
  if (late.empty()) return {};
  const size_t likely = late_targets(options, late, targets);
  const size_t points = likely * (any_asks(options, asks_for_returns) ? kPointsPerCall : 1);
  return {.classes = spare_classes(options, likely, classes),
          .probes = static_cast<uint32_t>(std::clamp(points, kLeastSpareProbes, kMostSpareProbes))};
}

abi::Geometry region_geometry(const Options& options, const RegionNeeds& needs) {
  abi::Geometry g{.class_count = needs.classes};
  g.latencies = options.latencies;
  g.ranges = needs.reads_memory;
  if (!makes_events(options)) return g;
  g.subbuf_count = options.subbuf_count;
  g.subbuf_size = needs.rings_unused ? kUnusedSubbuf : needs.subbuf_size;
  if (needs.walks_stacks) {
    g.stack_slots = UnwindTables::kStacks.slots;
    g.stack_frames = UnwindTables::kStacks.frames;
    g.stack_depth = UnwindTables::kStacks.depth;
  }
  g.slot_size = std::max(kMinSlotSize, std::bit_ceil(needs.largest_record + 16));
  g.slot_count = static_cast<uint32_t>(std::bit_floor(shared_ring_size(options, needs)) / g.slot_size);
  return g;
}

}  // namespace blip::session
