// SPDX-License-Identifier: MIT
// Hits go to the channel of their action, wherever its region lies; what all pads of a process share is in the home region.
#include <gtest/gtest.h>

#include "jit/test_calls.h"

namespace blip::jit {
namespace {

using test::kClass;
using test::ProbedFunction;
using test::Way;

void nothing(uint64_t) {}

class ChannelApart : public testing::TestWithParam<Way> {
 protected:
  static constexpr uint64_t kCalls = 20;

  static void call(ProbedFunction& f) {
    for (uint64_t i = 0; i < kCalls; ++i) EXPECT_EQ(f(nothing, i), i + 100);
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, ChannelApart, testing::Values(Way::kRseq, Way::kShared, Way::kMonotonic),
                         [](const auto& way) { return test::way_name(way.param); });

TEST_P(ChannelApart, has_the_records_of_returns) {
  ProbedFunction f(GetParam(), Effect::kRecord, {}, true);
  ASSERT_NE(f.home().region(), f.region().region());
  call(f);
  const auto calls = f.calls();
  ASSERT_EQ(calls.size(), kCalls);
  for (uint64_t i = 0; i < kCalls; ++i) EXPECT_EQ(calls[i].result, i + 100);
}

TEST_P(ChannelApart, has_the_histograms) {
  ProbedFunction f(GetParam(), Effect::kLatency, {}, true);
  call(f);
  EXPECT_EQ(f.latencies().count(), kCalls);
}

// The gate page and the switches are those of the home.
TEST_P(ChannelApart, is_switched_and_gated_by_the_home) {
  ProbedFunction f(GetParam(), Effect::kRecord, {}, true);
  uint8_t* on = f.home().region() + f.home().geometry().switches_offset();
  *on = abi::kSwitchOff;
  call(f);
  *on = abi::kSwitchOn;
  EXPECT_TRUE(f.calls().empty());
  EXPECT_EQ(f.totals().skipped + f.totals().unpaired, 0u);
  f.home().gate()->gate = abi::kGateChild;
  call(f);
  f.home().gate()->gate = abi::kGateOpen;
  EXPECT_TRUE(f.calls().empty());
  EXPECT_EQ(f.totals().skipped, kCalls) << "counted in the channel";
}

// What a fork's child does that nobody announced.
TEST_P(ChannelApart, a_wiped_gate_is_opened_as_the_home_says) {
  ProbedFunction f(GetParam(), Effect::kRecord, {}, true);
  *f.home().gate() = {};
  f.home().header()->unannounced_gate = abi::kGateOpen | abi::kGateChild;
  call(f);
  EXPECT_EQ(f.home().gate()->gate, abi::kGateOpen | abi::kGateChild);
  EXPECT_EQ(f.calls().size(), kCalls);
}

// A place with an action for each of several channels: the first lies in the home region, the others elsewhere.
class SeveralChannels : public testing::TestWithParam<bool> {
 protected:
  static constexpr uint32_t kChannels = 3;
  static constexpr uint64_t kHits = 30;

  SeveralChannels() {
    for (uint32_t i = 0; i < kChannels; ++i)
      regions_.push_back(std::make_unique<ring::TestRegion>(geometry()));
    for (const auto& region : regions_) {
      region->header()->home_addr = addr(home().region()).value;
      env_.channels.push_back({.geometry = region->geometry(), .control = addr(region->region())});
    }
    for (uint32_t i = 1; i < kChannels; ++i)
      regions_[i]->gate()->gate = abi::kGateIgnored;  // nobody looks at it
    home().gate()->pid = ::getpid();
    env_.process.geometry = home().geometry();
    env_.process.control = addr(home().region());
    if (GetParam() && __rseq_size != 0)
      env_.process.rseq = Rseq{.offset = static_cast<int32_t>(__rseq_offset), .signature = RSEQ_SIG};
    auto arena =
        Mapping::create(0x10000, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(arena.has_value());
    arena_ = *std::move(arena);
  }

  static abi::Geometry geometry() {
    return {.ring_count = static_cast<uint32_t>(::sysconf(_SC_NPROCESSORS_CONF)),
            .class_count = kClass + 1,
            .subbuf_count = 2,
            .subbuf_size = abi::kPageSize,
            .probe_count = kChannels,
            .slot_size = 64,
            .slot_count = 1 << 10};
  }
  static TargetAddr addr(const uint8_t* p) { return TargetAddr(reinterpret_cast<uint64_t>(p)); }
  ring::TestRegion& home() { return *regions_.front(); }

  // A function with a pad in the place of its nop.
  void build(const std::vector<Action>& actions) {
    constexpr uint8_t kCode[] = {0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3};  // nop; ret
    std::memcpy(arena_.data(), kCode, sizeof kCode);
    auto prologue = build_area_prologue(addr(arena_.data() + kPads), env_);
    ASSERT_TRUE(prologue) << prologue.error().message();
    std::copy(prologue->code.begin(), prologue->code.end(), arena_.data() + kPads);
    const size_t at = (kPads + prologue->code.size() + kPadAlign - 1) / kPadAlign * kPadAlign;
    PadPoint point;
    for (const Action& action : actions) point.actions.push_back(&action);
    const PadSite site{
        .addr = addr(arena_.data()), .window = std::span(kCode).first(5), .points = {&point, 1}};
    auto pad = build_pad(addr(arena_.data() + at), site, env_, prologue->stubs);
    ASSERT_TRUE(pad) << pad.error().message();
    EXPECT_LE(pad->code.size(), max_pad_size(site));
    std::copy(pad->code.begin(), pad->code.end(), arena_.data() + at);
    const auto distance = static_cast<int32_t>(at - abi::kJumpSize);
    arena_.data()[0] = 0xe9;  // jmp
    std::memcpy(arena_.data() + 1, &distance, sizeof distance);
  }
  void hit() const {
    for (uint64_t i = 0; i < kHits; ++i) reinterpret_cast<void (*)()>(arena_.data())();
  }

  ring::CounterTotals totals(uint32_t channel) const {
    const ring::TestRegion& region = *regions_[channel];
    return ring::CounterReader(region.geometry(), region.region()).class_totals(kClass);
  }
  uint64_t records(uint32_t channel) const {
    const ring::TestRegion& region = *regions_[channel];
    const uint32_t sizes[] = {0, sizeof(abi::ProcessRecord), 8};
    uint64_t count = 0;
    const auto take = [&](uint64_t, uint16_t id, const uint8_t*, uint32_t) { count += id == kClass; };
    for (uint32_t i = 0; i < region.geometry().ring_count; ++i)
      ring::RingReader(region.geometry(), region.region(), i, sizes).drain(take);
    ring::SharedRingReader(region.geometry(), region.region(), sizes).finish(take);
    return count;
  }

  static constexpr size_t kPads = 0x2000;
  std::vector<std::unique_ptr<ring::TestRegion>> regions_;
  Environment env_;
  Mapping arena_;
};
INSTANTIATE_TEST_SUITE_P(Ways, SeveralChannels, testing::Bool());

Action of(Effect effect, uint32_t channel) {
  return {.effect = effect, .channel = channel, .class_id = kClass, .switch_index = channel};
}

TEST_P(SeveralChannels, each_gets_what_its_action_says) {
  const std::vector<Action> actions = {of(Effect::kRecord, 0), of(Effect::kCount, 1), of(Effect::kRecord, 2)};
  build(actions);
  hit();
  EXPECT_EQ(records(0), kHits);
  EXPECT_EQ(totals(1).hits, kHits);
  EXPECT_EQ(records(2), kHits);
  EXPECT_EQ(totals(0).hits + totals(2).hits, 0u);
  EXPECT_EQ(records(1), 0u);
}

TEST_P(SeveralChannels, each_action_has_its_own_switch) {
  const std::vector<Action> actions = {of(Effect::kCount, 0), of(Effect::kCount, 1), of(Effect::kCount, 2)};
  build(actions);
  home().region()[home().geometry().switches_offset() + 1] = abi::kSwitchOff;
  hit();
  EXPECT_EQ(totals(0).hits, kHits);
  EXPECT_EQ(totals(1).hits, 0u);
  EXPECT_EQ(totals(2).hits, kHits);
}

// Nobody reads the last one: it fills, and goes on in its next sub-buffer meanwhile.
TEST_P(SeveralChannels, one_that_is_full_loses_its_own_records_only) {
  const std::vector<Action> actions = {of(Effect::kCount, 0), of(Effect::kRecord, 2)};
  build(actions);
  constexpr uint64_t kRounds = 200;
  for (uint64_t i = 0; i < kRounds; ++i) hit();
  EXPECT_EQ(totals(0).hits, kRounds * kHits);
  EXPECT_EQ(totals(0).discarded, 0u);
  const uint64_t kept = records(2);
  EXPECT_GT(kept, 0u);
  EXPECT_GT(totals(2).discarded, 0u);
  EXPECT_EQ(kept + totals(2).discarded, kRounds * kHits);
}

}  // namespace
}  // namespace blip::jit
