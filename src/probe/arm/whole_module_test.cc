// SPDX-License-Identifier: MIT
// Every instruction of a library that a working child uses all the time, at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <map>

#include "probe/arm/instrumentation.h"
#include "probe/arm/test_worker.h"
#include "probe/code/every_instruction.h"
#include "probe/patch/plan.h"
#include "ring/counters.h"

namespace blip::probe {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// 3 n + 1 by way of libc.
uint64_t through_libc(uint64_t n) {
  char text[64];
  ::snprintf(text, sizeof text, "%*" PRIu64 " %s", static_cast<int>(n % 30), 3 * n + 1, "rest");
  char* copy = ::strdup(text);
  const uint64_t result = ::strtoull(copy, nullptr, 10);
  int order[16];
  for (int i = 0; i < 16; ++i) order[i] = static_cast<int>((n * 7 + static_cast<uint64_t>(i) * 5) % 16);
  ::qsort(order, 16, sizeof order[0], [](const void* a, const void* b) {
    return *static_cast<const int*>(a) - *static_cast<const int*>(b);
  });
  const bool sorted = std::is_sorted(order, order + 16);
  const bool found = ::strstr(copy, "rest") != nullptr && ::strtod("2.5", nullptr) == 2.5;
  ::free(copy);
  return sorted && found ? result : 0;
}

struct WholeModule {
  WholeModule(pid_t pid, bool (Module::*is_it)() const)
      : process(*proc::Process::open(pid)), memory(*proc::Memory::open(pid)) {
    modules = std::move(load_modules(process, memory, *proc::read_maps(pid))->modules);
    index = static_cast<size_t>(
        std::find_if(modules.begin(), modules.end(), [&](const Module& m) { return (m.*is_it)(); }) -
        modules.begin());
  }

  // Every nth instruction.
  Result<std::unique_ptr<Instrumentation>> arm(size_t every) {
    const Module& module = modules[index];
    const auto start = Clock::now();
    std::vector<elf::Function> functions((*module.symbols())->functions().begin(),
                                         (*module.symbols())->functions().end());
    std::vector<Point> points;
    const std::vector<Point> all = every_instruction(module, functions);
    for (size_t i = 0; i < all.size(); i += every) points.push_back(all[i]);
    x86::TrampolineSpace space(proc::free_ranges(*proc::read_maps(process.pid())), kMaxTrampolinePages);
    ModulePlan plan = plan_points(module, points, {}, space);
    std::vector<Probe> probes;
    for (PlannedProbe& planned : plan.probes) {
      planned_refused += planned.refused();
      probes.push_back(
          {index, std::move(planned), {.effect = jit::Effect::kCount, .class_id = abi::kFirstClass}});
    }
    count = probes.size();
    const double plan_ms = ms_since(start);
    ModuleSites sites(modules.size());
    sites[index] = std::move(plan.sites);
    const size_t site_count = sites[index].size();
    const auto armed_from = Clock::now();
    auto armed =
        Instrumentation::arm(process, memory, modules, std::move(sites), std::move(probes),
                             {.geometry = {.class_count = abi::kFirstClass + 1}, .modules_complete = true});
    if (armed)
      std::printf(
          "%zu probes in %zu sites, %zu trampoline pages; planned in %.0f ms (%zu refused), armed in "
          "%.0f ms (%zu refused), paused %.1f ms\n",
          count, site_count, space.pages(), plan_ms, planned_refused, ms_since(armed_from),
          (*armed)->report().refused.size(),
          std::chrono::duration<double, std::milli>((*armed)->report().paused).count());
    return armed;
  }

  proc::Process process;
  proc::Memory memory;
  std::vector<Module> modules;
  size_t index = 0;
  size_t count = 0;
  size_t planned_refused = 0;
};

void check_whole_libc(size_t every) {
  Worker worker({through_libc}, 2);
  WholeModule libc(worker.pid(), &Module::is_libc);
  const std::string maps = maps_of(worker.pid());
  const auto text = text_of(libc.memory, libc.modules[libc.index]);
  {
    auto armed = libc.arm(every);
    ASSERT_TRUE(armed) << armed.error().message();
    std::map<std::string, size_t> reasons;
    for (const auto& [probe, reason] : (*armed)->report().refused) ++reasons[reason];
    for (const auto& [reason, n] : reasons) std::printf("  %zu: %s\n", n, reason.c_str());
    EXPECT_LT((*armed)->report().refused.size() * 200, libc.count) << "99.5 % of what was planned";
    worker.wait_rounds(2000);
    EXPECT_EQ(worker.errors(), 0u);
    const auto start = Clock::now();
    auto removed = (*armed)->disarm();
    ASSERT_TRUE(removed) << removed.error().message();
    EXPECT_FALSE(removed->kept) << removed->kept_reason;
    EXPECT_EQ(removed->foreign, 0u);
    std::printf("  removed in %.0f ms, paused %.1f ms\n", ms_since(start),
                std::chrono::duration<double, std::milli>(removed->paused).count());
  }
  EXPECT_EQ(text_of(libc.memory, libc.modules[libc.index]), text);
  EXPECT_EQ(maps_of(worker.pid()), maps);
  worker.wait_rounds(1000);
  EXPECT_EQ(worker.errors(), 0u);
  EXPECT_EQ(worker.finish(), 0);
}

TEST(WholeModule, every_tenth_instruction_of_libc) { check_whole_libc(10); }

TEST(WholeModule, every_instruction_of_libc) { check_whole_libc(1); }

}  // namespace
}  // namespace blip::probe
