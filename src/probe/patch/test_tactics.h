// SPDX-License-Identifier: MIT
// Sites of every kind, made by hand for the functions in tactics_test.cc.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "probe/arm/instrumentation.h"
#include "probe/arm/test_worker.h"
#include "ring/counters.h"

extern "C" {
uint64_t tac_plain(uint64_t);
uint64_t tac_pun(uint64_t);
uint64_t tac_prefixed(uint64_t);
uint64_t tac_board(uint64_t);
uint64_t tac_next(uint64_t);
uint64_t tac_page(uint64_t);
uint64_t tac_neighbour(uint64_t);
uint64_t tac_run(uint64_t);
}

namespace blip::probe {

inline TargetAddr address_of(Worker::Function f) { return TargetAddr(reinterpret_cast<uint64_t>(f)); }

inline std::vector<uint8_t> bytes_at(TargetAddr a, size_t size) {
  const auto* p = reinterpret_cast<const uint8_t*>(a.value);
  return {p, p + size};
}

inline Site site_at(TargetAddr start, uint8_t length, x86::Step step, uint8_t rank = 0) {
  Site s;
  s.rewrite = {.start = start, .length = length, .step = step, .rank = rank};
  s.bytes = bytes_at(start, length);
  return s;
}

// The jump at `at`, of which `room` bytes are its own and take these values (the opcode not counted).
inline TargetAddr punned_target(TargetAddr at, uint8_t prefixes, size_t room, std::vector<uint8_t> behind,
                                uint32_t own) {
  uint8_t displacement[4];
  const size_t own_bytes = room - prefixes - 1;
  std::memcpy(displacement, &own, sizeof own);
  std::copy_n(behind.begin(), 4 - own_bytes, displacement + own_bytes);
  int32_t distance;
  std::memcpy(&distance, displacement, sizeof distance);
  return TargetAddr(at.value + prefixes + 5 + static_cast<uint64_t>(int64_t{distance}));
}

// The sites and probes that are to be armed in the child.
struct Plan {
  std::vector<Site> sites;
  std::vector<PlannedProbe> probes;

  size_t add(Site site) {
    sites.push_back(std::move(site));
    return sites.size() - 1;
  }
  void probe(size_t site, uint8_t offset = 0) {
    PlannedProbe p;
    p.site = site;
    p.offset = offset;
    p.step = sites[site].rewrite.step;
    probes.push_back(p);
  }
};

inline Plan plain() {
  Plan plan;
  plan.probe(plan.add(site_at(address_of(tac_plain), 10, x86::Step::kSingle)));
  return plan;
}

// `own`: the displacement's low bytes.
inline Plan pun(uint32_t own = 0x5678) {
  Plan plan;
  Site site = site_at(address_of(tac_pun), 3, x86::Step::kPun);
  site.rewrite.entry = punned_target(site.rewrite.start, 0, 3, bytes_at(site.rewrite.start + 3, 4), own);
  plan.probe(plan.add(site));
  return plan;
}

inline Plan prefixed() {
  Plan plan;
  Site site = site_at(address_of(tac_prefixed), 3, x86::Step::kPrefixedPun);
  site.rewrite.prefixes = 1;
  site.rewrite.entry = punned_target(site.rewrite.start, 1, 3, bytes_at(site.rewrite.start + 3, 4), 0x42);
  plan.probe(plan.add(site));
  return plan;
}

inline Plan springboard() {
  Plan plan;
  Site site = site_at(address_of(tac_board), 2, x86::Step::kSpringboard);
  site.rewrite.springboard = site.rewrite.start + 2 + 5 + 1;
  site.springboard_bytes = bytes_at(site.rewrite.springboard, 5);
  EXPECT_THAT(site.springboard_bytes, testing::Each(0xcc));
  plan.probe(plan.add(site));
  return plan;
}

inline Plan next(Worker::Function f) {
  Plan plan;
  plan.add(site_at(address_of(f) + 4, 6, x86::Step::kSingle));
  Site site = site_at(address_of(f), 4, x86::Step::kEvictNext, 1);
  site.rewrite.entry = punned_target(site.rewrite.start, 0, 4, {0xe9}, 0x123456);
  plan.probe(plan.add(site));
  return plan;
}

inline Plan neighbour() {
  Plan plan;
  const size_t host = plan.add(site_at(address_of(tac_neighbour), 10, x86::Step::kSingle));
  Site site = site_at(address_of(tac_neighbour) + 10, 2, x86::Step::kEvictNeighbour, 1);
  site.rewrite.springboard = plan.sites[host].rewrite.start + 5;
  plan.probe(plan.add(site));
  return plan;
}

inline Plan run() {
  Plan plan;
  const size_t site = plan.add(site_at(address_of(tac_run), 8, x86::Step::kWindow));
  for (uint8_t offset : {0, 2, 2, 5}) plan.probe(site, offset);
  return plan;
}

class Traced {
 public:
  explicit Traced(pid_t pid) : process_(*proc::Process::open(pid)), memory_(*proc::Memory::open(pid)) {
    modules_ = std::move(load_modules(process_, memory_, *proc::read_maps(pid))->modules);
  }

  Result<std::unique_ptr<Instrumentation>> arm(const Plan& plan, uint32_t spare = 0) {
    return Instrumentation::arm(process_, memory_, modules_, sites(plan), probes(plan, 0),
                                {.geometry = {.class_count = class_of(plan.probes.size() + spare)},
                                 .modules_complete = true,
                                 .spare_probes = spare});
  }
  ModuleSites sites(const Plan& plan) const {
    ModuleSites result(modules_.size());
    result.front() = plan.sites;
    return result;
  }
  // Each counts in a class of its own.
  static std::vector<Probe> probes(const Plan& plan, size_t first) {
    std::vector<Probe> result;
    for (const PlannedProbe& planned : plan.probes)
      result.push_back(
          {0, planned, {.effect = jit::Effect::kCount, .class_id = class_of(first + result.size())}});
    return result;
  }
  static uint16_t class_of(size_t probe) { return static_cast<uint16_t>(abi::kFirstClass + probe); }
  std::vector<uint8_t> text() const { return text_of(memory_, modules_.front()); }

  proc::Process process_;
  proc::Memory memory_;
  std::vector<Module> modules_;
};

inline std::vector<uint64_t> hits(const Instrumentation& i, size_t probes) {
  const ring::CounterReader counters(i.geometry(), i.region());
  std::vector<uint64_t> result;
  for (size_t p = 0; p < probes; ++p) result.push_back(counters.class_totals(Traced::class_of(p)).hits);
  return result;
}

// A worker that is traced, and must be as it was when the trace is over.
class TracedWorker : public testing::Test {
 protected:
  explicit TracedWorker(std::vector<Worker::Function> functions)
      : worker_(std::move(functions), 3), traced_(worker_.pid()) {}

  // Hits of each probe in 500 rounds, after which the worker pauses.
  std::vector<uint64_t> exact_hits(const Instrumentation& armed, size_t probes) {
    worker_.pause();
    const auto before = hits(armed, probes);
    worker_.run_exactly(500);
    auto after = hits(armed, probes);
    for (size_t i = 0; i < probes; ++i) after[i] -= before[i];
    return after;
  }

  void expect_clean() {
    EXPECT_EQ(traced_.text(), text_);
    EXPECT_EQ(maps_of(worker_.pid()), maps_);
    EXPECT_EQ(worker_.errors(), 0u);
    EXPECT_EQ(worker_.finish(), 0);
  }

  Worker worker_;
  Traced traced_;
  const std::string maps_ = maps_of(worker_.pid());
  const std::vector<uint8_t> text_ = traced_.text();
};

}  // namespace blip::probe
