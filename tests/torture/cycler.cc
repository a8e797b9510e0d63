// SPDX-License-Identifier: MIT
// cycler PID SPEC SECONDS SEED: attach, arm, disarm, detach again and again, from one process and so quickly,
// each time with other functions of those that match; some are taken out, put back or switched while the rest
// count. After every cycle the target's text and maps must be what they were. Ends with "cycles N probes N
// changes N kept N busy N pause_us N".
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>

#include "probe/arm/instrumentation.h"
#include "probe/code/module.h"
#include "probe/code/resolve.h"
#include "probe/inject/leftovers.h"
#include "probe/patch/plan.h"
#include "proc/files/maps.h"

namespace blip::probe {
namespace {

template <typename T>
T must(Result<T> result, const char* what) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}: {}\n", what, result.error().message());
  std::exit(1);
}

void must(Status status, const char* what) {
  if (status) return;
  fmt::print(stderr, "{}: {}\n", what, status.error().message());
  std::exit(1);
}

struct Totals {
  uint64_t cycles = 0, probes = 0, changes = 0, kept = 0, busy = 0;
  std::chrono::nanoseconds pause{0};
};

class Cycler {
 public:
  Cycler(pid_t pid, const char* spec, uint64_t seed)
      : process_(must(proc::Process::open(pid), "open")),
        memory_(must(proc::Memory::open(pid), "open")),
        random_(seed) {
    modules_ = std::move(
        must(load_modules(process_, memory_, must(proc::read_maps(pid), "maps")), "modules").modules);
    const std::vector<elf::Spec> specs{must(elf::parse_spec(spec), "SPEC")};
    targets_ = must(resolve_functions(specs, modules_), "SPEC");
    text_ = text();
    maps_ = maps();
  }

  void cycle(Totals& totals) {
    auto attempt = arm();
    if (!attempt &&
        attempt.error().kind() == ErrorKind::kBusy) {  // signals all the time: blip says so and goes
      ++totals.busy;
      clean();
      return check_as_before();
    }
    const auto armed = must(std::move(attempt), "arm");
    ::usleep(static_cast<useconds_t>(below(1500)));
    for (uint64_t n = below(4); n > 0; --n, ++totals.changes) change(*armed);
    const RemovalReport removed = must(armed->disarm(), "disarm");
    totals.pause = std::max({totals.pause, armed->report().paused, removed.paused});
    totals.probes += probes_;
    ++totals.cycles;
    if (removed.kept) {  // somebody is still in a pad: the next cycle's business, or blip clean's
      ++totals.kept;
      maps_ = maps();
    }
    check(removed.foreign == 0, "foreign bytes at a site");
    check_as_before();
  }

 private:
  uint64_t below(uint64_t end) { return std::uniform_int_distribution<uint64_t>(0, end - 1)(random_); }

  // "Try again later" is a promise, too.
  void clean() {
    constexpr int kTries = 100;
    for (int tries = 0;; ++tries) {
      const auto cleaned = clean_leftovers(process_, memory_);
      if (cleaned) return;
      if (cleaned.error().kind() != ErrorKind::kBusy || tries == kTries) must(cleaned, "clean");
      ::usleep(20'000);
    }
  }

  void check_as_before() const {
    check(text() == text_, "the text is not what it was");
    const std::string now = maps();
    check(now == maps_, fmt::format("the maps are not what they were: {}", first_difference(now)));
  }
  std::string first_difference(const std::string& now) const {
    const auto at = std::mismatch(now.begin(), now.end(), maps_.begin(), maps_.end());
    return fmt::format("{:.300}\nnow {:.300}", std::string(at.second, maps_.end()),
                       std::string(at.first, now.end()));
  }
  static void check(bool holds, const std::string& what) {
    if (holds) return;
    fmt::print("WRONG: {}\n", what);
    std::exit(2);
  }

  Result<std::unique_ptr<Instrumentation>> arm() {
    std::shuffle(targets_.begin(), targets_.end(), random_);
    const size_t count = 1 + below(targets_.size());
    std::vector<std::vector<Point>> points(modules_.size());
    for (size_t i = 0; i < count; ++i) {
      const FunctionTarget& t = targets_[i];
      points[t.module].push_back({.addr = t.function.addr, .is_entry = true, .function = t.function});
    }
    std::vector<Probe> probes;
    ModuleSites sites(modules_.size());
    for (size_t m = 0; m < modules_.size(); ++m) {
      x86::TrampolineSpace none;
      ModulePlan plan = plan_points(modules_[m], points[m], {}, none);
      sites[m] = std::move(plan.sites);
      for (PlannedProbe& planned : plan.probes) {
        const auto class_id = static_cast<uint16_t>(abi::kFirstClass + probes.size());
        probes.push_back({m, std::move(planned), {.effect = jit::Effect::kCount, .class_id = class_id}});
      }
    }
    probes_ = probes.size();
    const auto classes = static_cast<uint32_t>(abi::kFirstClass + probes.size());
    return Instrumentation::arm(
        process_, memory_, modules_, std::move(sites), std::move(probes),
        {.geometry = {.class_count = classes}, .modules_complete = true, .spare_probes = 1});
  }

  void change(Instrumentation& armed) {
    const size_t probe = below(probes_);
    if (below(2)) return must(armed.remove(probe), "remove");
    armed.switch_probe(probe, below(2));
  }

  std::vector<uint8_t> text() const {
    std::vector<uint8_t> bytes;
    for (const AddrRange& range : modules_.front().text()) {
      const size_t at = bytes.size();
      bytes.resize(at + range.size());
      must(memory_.read(range.begin, std::span(bytes).subspan(at)), "read");
    }
    return bytes;
  }
  std::string maps() const {
    std::string all;
    for (const proc::Map& m : must(proc::read_maps(process_.pid()), "maps"))
      if (m.path != "[heap]" && m.path != "[stack]")
        all += fmt::format("{:x}-{:x} {}\n", m.range.begin.value, m.range.end.value, m.path);
    return all;
  }

  proc::Process process_;
  proc::Memory memory_;
  std::mt19937_64 random_;
  std::vector<Module> modules_;
  std::vector<FunctionTarget> targets_;
  size_t probes_ = 0;  // of this cycle
  std::vector<uint8_t> text_;
  std::string maps_;
};

}  // namespace
}  // namespace blip::probe

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  if (argc != 5) {
    fmt::print(stderr, "usage: cycler PID SPEC SECONDS SEED\n");
    return 2;
  }
  blip::probe::Cycler cycler(std::atoi(argv[1]), argv[2], std::strtoull(argv[4], nullptr, 0));
  blip::probe::Totals totals;
  const auto end = Clock::now() + std::chrono::duration<double>(std::atof(argv[3]));
  while (Clock::now() < end) cycler.cycle(totals);
  fmt::print("cycles {} probes {} changes {} kept {} busy {} pause_us {}\n", totals.cycles, totals.probes,
             totals.changes, totals.kept, totals.busy, totals.pause.count() / 1000);
}
