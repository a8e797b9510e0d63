// SPDX-License-Identifier: MIT
#include "ctf/clock.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace blip::ctf {
namespace {

constexpr double kHz = 2.8e9;

// A machine of its own: true time goes on by what each reading costs; CLOCK_MONOTONIC runs at a rate that NTP
// changes.
struct World {
  double true_s = 1000;  // since boot, by the cycle counter
  double mono_ns = 1000e9;
  double slew_ppm = 0;
  std::mt19937 random{7};

  void pass(double seconds) {
    true_s += seconds;
    mono_ns += seconds * 1e9 * (1 + slew_ppm * 1e-6);
  }
  // A reading takes 10 to 40 ns, and one in fifty is interrupted for microseconds.
  void cost() {
    pass(random() % 50 == 0 ? 5e-6 + double(random() % 20) * 1e-6 : 10e-9 + double(random() % 30) * 1e-9);
  }
  uint64_t tsc() const { return uint64_t(true_s * kHz); }
};

struct FakeClocks {
  World* world;
  uint64_t tsc() const {
    world->cost();
    return world->tsc();
  }
  uint64_t monotonic_ns() const {
    world->cost();
    return uint64_t(world->mono_ns);
  }
  uint64_t realtime_ns() const {
    world->cost();
    return uint64_t(world->mono_ns) + 1'700'000'000'000'000'000;
  }
};

using FakeTscClock = BasicTscClock<FakeClocks>;

struct Moment {
  uint64_t tsc;
  double ns;
};

// Runs `rounds` drain rounds of `period` seconds with events between; returns the worst error in ns.
template <typename Slew>
double worst_error(World& world, FakeTscClock& clock, int rounds, double period, Slew slew) {
  double worst = 0;
  uint64_t last = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Moment> events;
    for (int i = 0; i < 8; ++i) {
      slew(world);
      world.pass(period / 8);
      events.push_back({world.tsc(), world.mono_ns});
    }
    clock.sample();
    for (const Moment& event : events) {
      const uint64_t ns = clock.to_ns(event.tsc);
      EXPECT_GE(ns, last);
      last = ns;
      worst = std::max(worst, std::abs(double(ns) - event.ns));
    }
  }
  return worst;
}

TEST(TscClock, follows_a_slewed_clock_over_hours) {
  World world;
  FakeTscClock clock(FakeClocks{&world});
  // The rate wanders, as with NTP: steps of up to 2 ppm, within 500.
  const double worst = worst_error(world, clock, 3 * 3600 * 10, 0.1, [](World& w) {
    if (w.random() % 100 == 0) w.slew_ppm += (double(w.random() % 401) - 200) / 100;
    w.slew_ppm = std::clamp(w.slew_ppm, -500.0, 500.0);
  });
  EXPECT_LT(worst, 1000);
}

TEST(TscClock, a_slew_that_starts_and_stops_at_once_costs_microseconds_at_most) {
  World world;
  FakeTscClock clock(FakeClocks{&world});
  const double worst = worst_error(world, clock, 5000, 0.01, [n = 0](World& w) mutable {
    w.slew_ppm = (n++ / 997) % 2 ? 500 : 0;  // adjtime
  });
  EXPECT_LT(worst, 2500);
}

TEST(TscClock, an_idle_day_between_two_rounds) {
  World world;
  FakeTscClock clock(FakeClocks{&world});
  world.slew_ppm = 30;
  EXPECT_LT(worst_error(world, clock, 10, 86400, [](World&) {}), 1000);
}

TEST(TscClock, events_after_the_last_sample_are_extrapolated) {
  World world;
  world.slew_ppm = 80;
  FakeTscClock clock(FakeClocks{&world});
  (void)worst_error(world, clock, 500, 0.01, [](World&) {});
  world.pass(0.1);
  EXPECT_NEAR(double(clock.to_ns(world.tsc())), world.mono_ns, 1000);
}

TEST(TscClock, events_of_older_rounds_and_before_the_first_sample) {
  World world;
  const Moment before{world.tsc(), world.mono_ns};
  world.pass(0.001);
  FakeTscClock clock(FakeClocks{&world});
  EXPECT_NEAR(double(clock.to_ns(before.tsc)), before.ns, 1000);
  std::vector<Moment> past;
  for (int i = 0; i < 300; ++i) {
    world.slew_ppm = i * 1.0;
    world.pass(0.005);
    past.push_back({world.tsc(), world.mono_ns});
    world.pass(0.005);
    clock.sample();
  }
  uint64_t last = 0;
  for (const Moment& moment : past) {
    EXPECT_NEAR(double(clock.to_ns(moment.tsc)), moment.ns, 100);
    EXPECT_GT(clock.to_ns(moment.tsc), last);
    last = clock.to_ns(moment.tsc);
  }
}

TEST(ClockMap, is_continuous_where_segments_meet) {
  ClockMap map;
  std::mt19937_64 random(3);
  ClockPair pair{1'000'000, 500'000};
  std::vector<ClockPair> pairs;
  for (int i = 0; i < 500; ++i) {
    map.add(pair);
    pairs.push_back(pair);
    pair.tsc += 1 + random() % 10'000'000;
    pair.ns += random() % 4'000'000;
  }
  for (const ClockPair& p : pairs) {
    EXPECT_EQ(map.to_ns(p.tsc), p.ns);
    EXPECT_LE(map.to_ns(p.tsc - 1), p.ns);
  }
}

TEST(ClockMap, a_pair_from_the_past_is_ignored) {
  ClockMap map;
  map.add({1000, 1000});
  map.add({2000, 2000});
  map.add({1999, 2001});
  map.add({2500, 1900});
  EXPECT_EQ(map.to_ns(1500), 1500u);
  EXPECT_EQ(map.to_ns(2100), 2100u);
}

TEST(ClockMap, starts_anew_when_the_counter_was_set_back) {
  ClockMap map;
  map.add({10'000'000'000, 5'000'000'000});
  map.add({12'000'000'000, 6'000'000'000});
  map.add({100, 7'000'000'000});
  EXPECT_EQ(map.to_ns(300), 7'000'000'100u) << "at the rate known from before";
  map.add({1'000'000'100, 7'500'000'000});
  EXPECT_EQ(map.to_ns(500'000'100), 7'250'000'000u);
}

TEST(HostTscClock, agrees_with_the_clock_of_this_machine) {
  TscClock clock;
  uint64_t last = 0;
  for (int i = 0; i < 200; ++i) {
    const uint64_t before = HostClocks::monotonic_ns();
    const uint64_t tsc = HostClocks::tsc();
    const uint64_t after = HostClocks::monotonic_ns();
    clock.sample();
    const uint64_t ns = clock.to_ns(tsc);
    EXPECT_GE(ns + 2000, before);
    EXPECT_LE(ns, after + 2000);
    EXPECT_GE(ns, last);
    last = ns;
    ::usleep(200);
  }
  EXPECT_GT(clock.cycles_per_second(), 1e8);
  const int64_t offset = clock.realtime_offset();
  EXPECT_NEAR(double(int64_t(HostClocks::realtime_ns() - HostClocks::monotonic_ns()) - offset), 0, 5e6);
}

TEST(HostTscClock, is_ready_within_a_millisecond_or_so) {
  uint64_t best = ~uint64_t{0};
  for (int i = 0; i < 20; ++i) {
    const uint64_t start = HostClocks::monotonic_ns();
    const TscClock clock;
    best = std::min(best, HostClocks::monotonic_ns() - start);
  }
  EXPECT_LE(best, 1'000'000u);
}

TEST(TscClock, a_counter_of_nanoseconds_stays_as_it_is) {
  TscClock clock(HostClocks{.counter_is_monotonic = true});
  for (int i = 0; i < 100; ++i) {
    const uint64_t before = HostClocks::monotonic_ns();
    clock.sample();
    for (const uint64_t ns : {before - 1'000'000, before, before + 1, before + 1'000'000})
      EXPECT_EQ(clock.to_ns(ns), ns);
  }
}

}  // namespace
}  // namespace blip::ctf
