// SPDX-License-Identifier: MIT
// What the sinks of a drain do with its events.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "ctf/test_captured.h"
#include "session/drain/latency_sink.h"
#include "session/drain/live_sink.h"
#include "session/drain/recording_sink.h"
#include "session/drain/sink_list.h"
#include "session/drain/stream_sink.h"

namespace blip::session {
namespace {

using namespace ctf::testing;
using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint16_t kPlain = abi::kFirstClass, kCall = kPlain + 1, kHit = kPlain + 2;
constexpr int32_t kPid = 42, kChild = 43;

std::vector<ctf::EventClass> make_classes() {
  const ctf::Field pid{"vpid", ctf::FieldType::kInt32, 0, true, true};
  std::vector<ctf::EventClass> classes{
      {.id = kPlain, .name = "plain", .fields = {pid, {"n", ctf::FieldType::kUint32}}},
      {.id = kCall,
       .name = "call",
       .fields = {{.name = "latency_ns", .type = ctf::FieldType::kUint64, .is_duration = true}}},
      captured_class({string(20)}, {pid, text("s", 0)}, kHit, "hit")};
  classes[0].leads_with_pid = classes[2].leads_with_pid = true;
  for (ctf::EventClass& c : classes) ctf::lay_out(c);
  return classes;
}

struct Made {
  std::string fields;
  Event event;

  Made(uint64_t time_ns, uint16_t class_id, std::string of, int32_t pid = kPid, uint32_t row = 0)
      : fields(std::move(of)),
        event{.time_ns = time_ns,
              .row = row,
              .class_id = class_id,
              .pid = pid,
              .fields = reinterpret_cast<const uint8_t*>(fields.data()),
              .size = static_cast<uint32_t>(fields.size())} {}
  Made(const Made&) = delete;
};

void put(EventSink& sink, uint64_t time_ns, uint16_t class_id, const std::string& fields, int32_t pid = kPid,
         uint32_t row = 0) {
  sink.put(Made(time_ns, class_id, fields, pid, row).event);
}

void put_call(EventSink& sink, uint64_t latency_ns) {
  Made made(1, kCall, raw(latency_ns));
  made.event.latency_ns = latency_ns;
  sink.put(made.event);
}

TEST(LatencySink, classes_with_a_latency_have_histograms) {
  LatencySink sink;
  sink.add_classes(make_classes());
  for (const uint64_t ns : {5, 7}) put_call(sink, ns);
  put(sink, 1, kPlain, raw(uint32_t{9}));
  EXPECT_EQ(sink.of(kCall).count(), 2u);
  EXPECT_EQ(sink.of(kCall).sum(), 12u);
  EXPECT_EQ(sink.of(kPlain).count(), 0u);
  EXPECT_FALSE(sink.stores());
}

struct Shown {
  std::vector<ctf::EventClass> classes = make_classes();
  std::vector<std::string> fields{};
  std::vector<uint64_t> times{};
  LiveMerge merge{[this](const EventView& view) {
                    fields.emplace_back(view.record.begin() + abi::kHeaderSize, view.record.end());
                    times.push_back(view.time_ns);
                  },
                  classes};
};

TEST(LiveSink, events_are_shown_with_their_pid_and_padding_where_their_class_has_them) {
  Shown shown;
  LiveSink sink(shown.merge);
  sink.add_classes(shown.classes);
  put(sink, 1, kPlain, raw(uint32_t{9}));
  put(sink, 2, kCall, raw(uint64_t{8}));
  put(sink, 3, kHit, "abc\0"s, kChild);
  sink.finish();
  shown.merge.show(100);
  EXPECT_THAT(shown.fields,
              ElementsAre(raw(kPid) + raw(uint32_t{9}), raw(uint64_t{8}), raw(kChild) + "abc\0"s));
}

TEST(LiveSink, a_sink_holds_back_the_others_until_it_is_complete) {
  Shown shown;
  LiveSink early(shown.merge);
  auto slow = std::make_unique<LiveSink>(shown.merge);
  for (EventSink* sink : {static_cast<EventSink*>(&early), static_cast<EventSink*>(slow.get())})
    sink->add_classes(shown.classes);
  put(early, 10, kCall, raw(uint64_t{1}));
  early.end_round(100);
  EXPECT_EQ(shown.merge.show(100), 0u);
  put(*slow, 5, kCall, raw(uint64_t{2}));
  slow->end_round(7);
  EXPECT_EQ(shown.merge.show(100), 1u);
  slow.reset();
  EXPECT_EQ(shown.merge.show(100), 1u);
  EXPECT_THAT(shown.times, ElementsAre(5, 10));
}

class FilesTest : public ::testing::Test {
 protected:
  FilesTest() {
    std::string pattern = ::testing::TempDir() + "/blip-sinks-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    auto dir = ctf::TraceDir::create(root_ + "/t");
    EXPECT_TRUE(dir);
    dir_.emplace(*std::move(dir));
  }
  ~FilesTest() override { std::filesystem::remove_all(root_); }

  Result<StreamSink> create() {
    const StreamSink::Row rows[] = {{"cpu0", 0}, {"shared", ctf::kNoCpu}};
    auto sink = StreamSink::create({.dir = *dir_,
                                    .uuid = {},
                                    .prefix = "p-",
                                    .first_stream = 0,
                                    .before_several = [this] { return before_; }},
                                   rows, kPid);
    if (sink) sink->add_classes(classes_);
    return sink;
  }
  std::string file(const std::string& name) const {
    std::ifstream in(root_ + "/t/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::string root_;
  std::optional<ctf::TraceDir> dir_;
  std::vector<ctf::EventClass> classes_ = make_classes();
  Status before_;
};

TEST_F(FilesTest, a_row_has_a_stream_and_another_one_once_a_child_writes) {
  auto sink = create();
  ASSERT_TRUE(sink);
  put(*sink, 1, kHit, "own\0"s);
  put(*sink, 2, kHit, "child\0"s, kChild);
  put(*sink, 3, kHit, "again\0"s);
  put(*sink, 4, kHit, "there\0"s, kPid, 1);
  sink->finish();
  EXPECT_THAT(file("p-cpu0"), HasSubstr("own"));
  EXPECT_THAT(file("p-cpu0"), Not(HasSubstr(raw(kPid) + "own"))) << "the packets tell the pid";
  EXPECT_THAT(file("p-cpu0-forked"), HasSubstr(raw(kChild) + "child"));
  EXPECT_THAT(file("p-cpu0-forked"), HasSubstr(raw(kPid) + "again"));
  EXPECT_THAT(file("p-shared"), HasSubstr("there"));
  EXPECT_EQ(sink->events(), 4u);
  EXPECT_EQ(sink->lost(), 0u);
  EXPECT_FALSE(sink->error());
}

TEST_F(FilesTest, what_is_stored_is_in_the_files) {
  auto sink = create();
  ASSERT_TRUE(sink);
  EXPECT_TRUE(sink->stores());
  put(*sink, 1, kHit, "own\0"s);
  sink->end_round(1);
  EXPECT_THAT(file("p-cpu0"), Not(HasSubstr("own"))) << "the packet is not full";
  const StoredPackets own = sink->store(0);
  EXPECT_THAT(file("p-cpu0"), HasSubstr("own"));
  EXPECT_EQ(own.own, 1u);
  EXPECT_EQ(own.several, 0u);
  put(*sink, 2, kHit, "child\0"s, kChild);
  EXPECT_EQ(sink->store(0).several, 1u);
}

TEST_F(FilesTest, discarded_hits_are_told_in_a_packet) {
  auto sink = create();
  ASSERT_TRUE(sink);
  put(*sink, 1, kHit, "own\0"s);
  sink->set_discarded(0, 5, 2);
  put(*sink, 3, kHit, "child\0"s, kChild);
  sink->set_discarded(0, 7, 4);
  sink->finish();
  const auto last_discarded = [](const std::string& packets) {
    ctf::PacketHeader header;
    std::memcpy(&header, &packets[packets.size() - ctf::kPacketSize], sizeof header);
    return uint64_t{header.events_discarded};
  };
  EXPECT_EQ(last_discarded(file("p-cpu0")), 5u);
  EXPECT_EQ(last_discarded(file("p-cpu0-forked")), 2u) << "each stream counts its own";
}

TEST_F(FilesTest, events_without_a_stream_are_lost_and_the_reason_is_told) {
  auto sink = create();
  ASSERT_TRUE(sink);
  before_ = Error(ErrorKind::kInvalid, "no metadata");
  put(*sink, 1, kHit, "own\0"s);
  put(*sink, 2, kHit, "child\0"s, kChild);
  sink->finish();
  EXPECT_EQ(sink->events(), 1u);
  EXPECT_EQ(sink->lost(), 1u);
  ASSERT_TRUE(sink->error());
  EXPECT_THAT(sink->error()->message(), HasSubstr("no metadata"));
}

TEST_F(FilesTest, a_stream_that_is_there_already_is_not_overwritten) {
  ASSERT_TRUE(create());
  EXPECT_FALSE(create());
}

TEST_F(FilesTest, a_recording_ends_at_the_limit_of_all_processes) {
  auto streams = create();
  ASSERT_TRUE(streams);
  EventLimit limit{.most = 3, .taken = 1};
  RecordingSink sink(*std::move(streams), limit);
  sink.add_classes(classes_);
  for (const uint64_t ns : {5, 6, 7}) put_call(sink, ns);
  EXPECT_TRUE(limit.reached());
  sink.set_discarded(0, 1, 9);
  EXPECT_GT(sink.store(0).own, 0u);
  sink.end_round(9);
  sink.finish();
  EXPECT_EQ(sink.streams().events(), 2u);
  EXPECT_EQ(sink.latencies().of(kCall).count(), 2u) << "only of what is written";
  EXPECT_EQ(sink.latencies().of(kCall).max(), 6u);
}

TEST_F(FilesTest, a_list_is_all_of_its_sinks_and_stores_if_one_does) {
  Shown shown;
  SinkList list;
  EXPECT_FALSE(list.stores());
  EXPECT_EQ(list.store(0).own, 0u);
  list.add(std::make_unique<LiveSink>(shown.merge));
  list.add_classes(shown.classes);
  EXPECT_FALSE(list.stores());
  auto streams = create();
  ASSERT_TRUE(streams);
  list.add(std::make_unique<StreamSink>(*std::move(streams)));
  EXPECT_EQ(list.size(), 2u);
  EXPECT_TRUE(list.stores());
  put(list, 1, kHit, "own\0"s);
  list.set_discarded(0, 1, 2);
  list.end_round(1);
  EXPECT_GT(list.store(0).own, 0u);
  list.finish();
  EXPECT_EQ(shown.merge.show(100), 1u);
  EXPECT_THAT(file("p-cpu0"), HasSubstr("own"));
}

}  // namespace
}  // namespace blip::session
