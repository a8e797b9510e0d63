// SPDX-License-Identifier: MIT
// Records of all kinds of classes from a ring into files and before the eyes, those of hostile targets too.
#include "session/drain/pad_drain.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "ctf/test_captured.h"
#include "ring/test_region.h"
#include "ring/writer.h"
#include "session/drain/live_sink.h"

namespace blip::session {
namespace {

using namespace ctf::testing;
using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int32_t kPid = 42, kChild = 4343;
constexpr uint16_t kPlain = abi::kFirstClass, kHit = abi::kFirstClass + 1;
constexpr abi::Geometry kGeometry = {.ring_count = 1,
                                     .class_count = abi::kFirstClass + 2,
                                     .subbuf_count = 2,
                                     .subbuf_size = 1 << 16,
                                     .slot_size = 128,
                                     .slot_count = 16};

std::vector<ctf::EventClass> make_classes() {
  const ctf::Field pid{"vpid", ctf::FieldType::kInt32, 0, true, true};
  std::vector<ctf::EventClass> classes = {
      {.id = kPlain, .name = "plain", .fields = {pid, {"rdi", ctf::FieldType::kHex64}}},
      captured_class({fixed(4, true), string(20)},
                     {pid, {"vtid", ctf::FieldType::kInt32, 0, true}, integer("n", 0, 4), text("s", 1)}, kHit,
                     "hit")};
  for (ctf::EventClass& c : classes) {
    c.leads_with_pid = true;
    ctf::lay_out(c);
  }
  return classes;
}

class PadDrainTest : public ::testing::Test {
 protected:
  PadDrainTest() {
    std::string pattern = ::testing::TempDir() + "/blip-drain-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    drain_.add_sink(std::make_unique<LiveSink>(live_));
  }
  ~PadDrainTest() override { std::filesystem::remove_all(root_); }

  void write(std::vector<uint8_t> record, uint16_t class_id) {
    const uint64_t header = abi::make_header(class_id, ctf::HostClocks::tsc());
    std::memcpy(record.data(), &header, sizeof header);
    uint64_t& pos = region_.ring_control(0)->pos;
    std::memcpy(region_.ring_data(0) + pos, record.data(), record.size());
    pos += record.size();
  }
  void write_plain(uint64_t rdi) {
    std::vector<uint8_t> record(16);
    std::memcpy(&record[8], &rdi, 8);
    write(record, kPlain);
  }
  void switch_to(int32_t pid) {
    std::vector<uint8_t> record(sizeof(abi::ProcessRecord));
    std::memcpy(&record[offsetof(abi::ProcessRecord, pid)], &pid, sizeof pid);
    write(record, abi::kProcessClass);
  }
  HitRecord hit() const { return HitRecord(classes_[1]).plain(1, 7).value(0, int32_t{5}); }

  Status write_files() {
    TRY(ctf::TraceDir dir, ctf::TraceDir::create(root_ + "/t"));
    dir_.emplace(std::move(dir));
    return drain_.write_to({.dir = *dir_, .uuid = {}, .prefix = "", .first_stream = 0, .before_several = [] {
                              return Status();
                            }});
  }
  std::string file(const std::string& name) const {
    std::ifstream in(root_ + "/t/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // Long after the threads have left their sections.
  void drain_and_show() {
    constexpr uint64_t kLater = 1'000'000'000;
    ctf::ClockPair start = clock_.sample();
    start.ns += kLater;
    drain_.drain(start);
    live_.show(UINT64_MAX);
  }
  void finish() {
    drain_.finish();
    live_.show(UINT64_MAX);
  }

  std::string root_;
  std::optional<ctf::TraceDir> dir_;
  std::vector<ctf::EventClass> classes_ = make_classes();
  ring::TestRegion region_{kGeometry};
  std::vector<std::string> shown_;  // fields
  std::vector<uint64_t> times_;
  LiveMerge live_{[this](const EventView& view) {
                    times_.push_back(view.time_ns);
                    shown_.emplace_back(view.record.begin() + abi::kHeaderSize, view.record.end());
                  },
                  classes_};
  ctf::TscClock clock_;
  EventLimit limit_;
  PadDrain drain_{
      {.pid = ::getpid(), .vpid = kPid, .classes = classes_, .clock = clock_, .limit = limit_},
      {.geometry = kGeometry, .region = region_.region(), .vpid = kPid, .start_tsc = ctf::HostClocks::tsc()}};
};

std::string packed(const std::string& text) {
  return raw(int32_t{7}) + raw(int32_t{5}) + text + '\0' + raw(uint64_t{0}) + raw(uint64_t{0});
}

TEST_F(PadDrainTest, records_with_a_hit_word_are_packed_before_they_are_written_and_shown) {
  ASSERT_TRUE(write_files());
  write(hit().dynamic(1, "abc").bytes(), kHit);
  write_plain(0x1122334455667788);
  write(hit().dynamic(1, "").bytes(), kHit);
  switch_to(kChild);
  write(hit().dynamic(1, "child").bytes(), kHit);
  finish();
  EXPECT_EQ(drain_.totals().events, 4u);
  EXPECT_EQ(drain_.totals().malformed, 0u);
  EXPECT_THAT(shown_, ElementsAre(raw(kPid) + packed("abc"),
                                  raw(kPid) + raw(uint64_t{0x1122334455667788}) + "\0\0\0\0"s,
                                  raw(kPid) + packed(""), raw(kChild) + packed("child")));
  EXPECT_THAT(file("cpu0"), HasSubstr(packed("abc")));
  EXPECT_THAT(file("cpu0"), Not(HasSubstr(raw(kPid) + packed("abc")))) << "the packets tell the pid";
  EXPECT_THAT(file("cpu0-forked"), HasSubstr(raw(kChild) + packed("child")));
}

TEST_F(PadDrainTest, what_is_not_as_its_class_says_is_malformed_and_the_rest_goes_on) {
  ASSERT_TRUE(write_files());
  std::vector<uint8_t> bad = hit().dynamic(1, "abc").bytes();
  bad[classes_[1].outputs[1].offset] = 19;  // more than there is
  write(bad, kHit);
  write(hit().dynamic(1, "good").bytes(), kHit);
  finish();
  EXPECT_EQ(drain_.totals().events, 1u);
  EXPECT_EQ(drain_.totals().malformed, 1u);
  EXPECT_THAT(shown_, ElementsAre(raw(kPid) + packed("good")));
}

// The ring is full behind the first events: what is discarded there is told between them and what comes
// later.
TEST_F(PadDrainTest, discards_are_told_where_they_happened) {
  ASSERT_TRUE(write_files());
  for (uint64_t n = 0; n < 3; ++n) write_plain(n);
  region_.ring_control(0)->pos = kGeometry.subbuf_size;  // behind them is padding
  auto* discarded =
      reinterpret_cast<uint64_t*>(region_.region() + kGeometry.counter_offset(abi::kDiscarded, 0, kPlain));
  *discarded = 5;
  drain_.drain(clock_.sample());
  *discarded = 6;
  finish();
  const std::string packets = file("cpu0");
  std::vector<std::pair<uint64_t, uint64_t>> facts;  // bits of content, discarded
  for (size_t at = 0; at < packets.size(); at += ctf::kPacketSize) {
    ctf::PacketHeader header;
    std::memcpy(&header, &packets[at], sizeof header);
    facts.push_back({header.content_size / 8 - sizeof header, uint64_t{header.events_discarded}});
  }
  EXPECT_THAT(facts, ElementsAre(std::pair(3 * 16, 0), std::pair(0, 5), std::pair(0, 6)));
  EXPECT_GT(drain_.totals().ring_needed, kGeometry.ring_size());
}

TEST_F(PadDrainTest, nothing_younger_is_shown_while_a_slot_of_the_shared_ring_is_unfinished) {
  const ring::Reservation slow = ring::reserve(region_.region(), kPlain);
  ASSERT_NE(slow.record, nullptr);
  write_plain(1);
  drain_and_show();
  EXPECT_EQ(shown_.size(), 0u);
  ring::commit(slow);
  drain_and_show();
  EXPECT_EQ(shown_.size(), 2u);
  EXPECT_TRUE(std::is_sorted(times_.begin(), times_.end()));
}

TEST_F(PadDrainTest, slow_and_fast_events_are_shown_in_the_order_of_time) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    times_.clear();
    std::vector<ring::Reservation> unfinished;
    size_t events = 0;
    for (int i = 0; i < 100; ++i) {
      const unsigned what = random() % 4;
      if (what == 0) {
        write_plain(random());
        ++events;
      } else if (what == 1) {
        const ring::Reservation slot = ring::reserve(region_.region(), kPlain);
        if (slot.record != nullptr) unfinished.push_back(slot);
        events += slot.record != nullptr;
      } else if (what == 2 && !unfinished.empty()) {
        std::swap(unfinished[random() % unfinished.size()], unfinished.back());
        ring::commit(unfinished.back());
        unfinished.pop_back();
      } else {
        drain_and_show();
      }
    }
    for (const ring::Reservation& slot : unfinished) ring::commit(slot);
    drain_and_show();
    drain_and_show();
    ASSERT_EQ(times_.size(), events) << "seed " << seed;
    ASSERT_TRUE(std::is_sorted(times_.begin(), times_.end())) << "seed " << seed;
  }
}

}  // namespace
}  // namespace blip::session
