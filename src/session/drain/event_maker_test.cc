// SPDX-License-Identifier: MIT
#include "session/drain/event_maker.h"

#include <gmock/gmock.h>

#include <cstring>
#include <string>

#include "ctf/test_captured.h"
#include "unwind/intern.h"

namespace blip::session {
namespace {

using namespace ctf::testing;
using namespace std::string_literals;

constexpr uint16_t kFirst = abi::kFirstClass;

ctf::EventClass laid_out(ctf::EventClass c) {
  ctf::lay_out(c);
  return c;
}

std::string fields_of(const Event& event) {
  return {reinterpret_cast<const char*>(event.fields), event.size};
}

template <typename... Values>
std::vector<uint8_t> record_of(Values... values) {
  std::string bytes = raw(uint64_t{0});
  ((bytes += raw(values)), ...);
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return {bytes.begin(), bytes.end()};
}

struct Made {
  bool good;
  std::string fields;
  uint64_t latency_ns;
};

Made make(EventMaker& maker, uint16_t class_id, const std::vector<uint8_t>& record) {
  Event event{.time_ns = 1, .row = 0, .class_id = class_id, .pid = 1, .fields = nullptr, .size = 0};
  const bool good = maker.make(event, record.data(), static_cast<uint32_t>(record.size()));
  return {good, good ? fields_of(event) : "", event.latency_ns};
}

TEST(EventMaker, most_records_are_events_without_header_and_padding) {
  EventMaker maker(0, nullptr);
  maker.add_classes(
      {laid_out({.id = kFirst,
                 .name = "f",
                 .fields = {{"vtid", ctf::FieldType::kInt32, 0, true}, {"rdi", ctf::FieldType::kHex64}}})});
  EXPECT_TRUE(maker.is_ready(kFirst));
  EXPECT_FALSE(maker.tells_lives(kFirst));
  EXPECT_EQ(make(maker, kFirst, record_of(int32_t{7}, uint64_t{8})).fields,
            raw(int32_t{7}) + raw(uint64_t{8}));
}

TEST(EventMaker, the_pid_that_an_event_leads_with_is_in_no_record) {
  ctf::EventClass c{.id = kFirst,
                    .name = "f",
                    .fields = {{"vpid", ctf::FieldType::kInt32, 0, true, true},
                               {.name = "latency_ns", .type = ctf::FieldType::kUint64, .is_duration = true}}};
  c.leads_with_pid = true;
  EventMaker maker(uint64_t{2} << ctf::ClockSegment::kShift, nullptr);  // a unit of the clock is 2 ns
  maker.add_classes({laid_out(c)});
  EXPECT_FALSE(maker.is_ready(kFirst));
  const Made made = make(maker, kFirst, record_of(uint64_t{50}));
  EXPECT_EQ(made.fields, raw(uint64_t{100}));
  EXPECT_EQ(made.latency_ns, 100u);
}

TEST(EventMaker, threads_are_named_unless_records_have_the_names) {
  EventMaker maker(0, nullptr);
  maker.add_classes(
      {laid_out({.id = kFirst, .name = "f", .fields = {{"procname", ctf::FieldType::kText16, 0, true}}})});
  EXPECT_TRUE(maker.has_name(kFirst));
  const auto record = record_of(int32_t{7}, int32_t{0}, uint64_t{0});
  EXPECT_EQ(make(maker, kFirst, record).fields, raw(int32_t{7}) + std::string(12, '\0'));
  const ThreadNames::Name name{"worker"};
  maker.name_threads([&](int32_t tid) -> const ThreadNames::Name& {
    EXPECT_EQ(tid, 7);
    return name;
  });
  EXPECT_EQ(make(maker, kFirst, record).fields, "worker"s + std::string(10, '\0'));
}

TEST(EventMaker, records_with_a_hit_word_are_packed) {
  EventMaker maker(0, nullptr);
  const ctf::EventClass c =
      captured_class({fixed(4, true), string(20)}, {integer("n", 0, 4), text("s", 1)}, kFirst);
  maker.add_classes({c});
  std::vector<uint8_t> record = HitRecord(c).value(0, int32_t{5}).dynamic(1, "abc").bytes();
  EXPECT_EQ(make(maker, kFirst, record).fields,
            raw(int32_t{5}) + "abc\0"s + raw(uint64_t{0}) + raw(uint64_t{0}));
  record[c.outputs[1].offset] = 19;  // more than there is
  EXPECT_FALSE(make(maker, kFirst, record).good);
}

TEST(EventMaker, a_class_that_nobody_could_read_makes_no_events) {
  EventMaker maker(0, nullptr);
  ctf::EventClass c = captured_class({string(20)}, {text("s", 0)}, kFirst);
  const auto record = HitRecord(c).dynamic(0, "abc").bytes();
  c.fields[0].output = 9;
  maker.add_classes({c});
  EXPECT_FALSE(make(maker, kFirst, record).good);
}

TEST(EventMaker, records_about_lives_are_no_events) {
  EventMaker maker(0, nullptr);
  ctf::EventClass c{.id = kFirst, .name = "blip:thread"};
  c.tells_lives = true;
  maker.add_classes({laid_out(c)});
  EXPECT_TRUE(maker.tells_lives(kFirst));
  EXPECT_FALSE(maker.is_ready(kFirst));
}

TEST(EventMaker, classes_that_come_later_are_known_then) {
  EventMaker maker(0, nullptr);
  std::vector<ctf::EventClass> classes{
      laid_out({.id = kFirst, .name = "a", .fields = {{"rdi", ctf::FieldType::kHex64}}})};
  maker.add_classes(classes);
  classes.push_back(captured_class({fixed(4, false)}, {integer("n", 0, 4)}, kFirst + 1, "b"));
  maker.add_classes(classes);
  EXPECT_EQ(make(maker, kFirst, record_of(uint64_t{1})).fields, raw(uint64_t{1}));
  EXPECT_EQ(make(maker, kFirst + 1, HitRecord(classes[1]).value(0, int32_t{5}).bytes()).fields,
            raw(int32_t{5}));
}

// A region with room for stacks.
struct Stacks {
  abi::Geometry geometry{.ring_count = 1,
                         .class_count = kFirst + 1,
                         .subbuf_count = 2,
                         .subbuf_size = 4096,
                         .slot_size = 64,
                         .slot_count = 16,
                         .stack_slots = 64,
                         .stack_frames = 100,
                         .stack_depth = 16};
  std::vector<uint64_t> memory = std::vector<uint64_t>(geometry.region_size() / 8);

  Stacks() {
    const unwind::StackTableSize size{.slots = 64, .frames = 100, .depth = 16};
    unwind::StackTableReader::create({table(), size.bytes()}, size);
  }
  uint8_t* region() { return reinterpret_cast<uint8_t*>(memory.data()); }
  uint8_t* table() { return region() + geometry.stacks_offset(); }
  uint32_t put(const std::vector<uint64_t>& frames, abi::UnwindEnd end) {
    return unwind::StackInterner(table()).intern([&](unwind::FrameSum& visit) {
      for (const uint64_t frame : frames) visit(frame);
      return end;
    });
  }
};

TEST(StackCache, an_entry_tells_frames_and_why_they_end) {
  Stacks stacks;
  StackCache cache(stacks.geometry, stacks.region());
  const uint32_t id = stacks.put({0x10, 0x20}, abi::UnwindEnd::kNoModule);
  for (int i = 0; i < 2; ++i) {
    const StackCache::Entry& entry = cache.of(id);
    EXPECT_THAT(entry.frames, ::testing::ElementsAre(0x10, 0x20));
    EXPECT_EQ(entry.info & 0xff, static_cast<uint64_t>(abi::UnwindEnd::kNoModule));
  }
  EXPECT_EQ(cache.of(id).info & uint64_t{1} << ctf::StackInfo::kFirstBit,
            uint64_t{1} << ctf::StackInfo::kFirstBit)
      << "the hit's own address is no return address";
  EXPECT_EQ(cache.refused(), 0u);
}

TEST(StackCache, a_stack_without_room_has_no_frames) {
  Stacks stacks;
  StackCache cache(stacks.geometry, stacks.region());
  EXPECT_EQ(cache.of(abi::kNoStack).info, ctf::StackInfo::kNoRoom);
  EXPECT_TRUE(cache.of(abi::kNoStack).frames.empty());
}

}  // namespace
}  // namespace blip::session
