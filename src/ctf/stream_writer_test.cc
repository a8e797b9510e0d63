// SPDX-License-Identifier: MIT
#include "ctf/stream_writer.h"

#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>
#include <tuple>

#include "ctf/test_support.h"

namespace blip::ctf::testing {
namespace {

constexpr uint64_t kStart = 5'000'000'000'000;
constexpr size_t kWordsPerPacket = (4096 - 88) / 16;

class StreamWriterTest : public ::testing::Test {
 protected:
  std::vector<FilePacket> check() const { return check_stream(scratch_ / "trace/s", kOneWord); }

  ScratchDir scratch_;
  TestTrace trace_{scratch_ / "trace", {one_word_class()}};
};

TEST_F(StreamWriterTest, packs_events_into_packets_of_4096_bytes) {
  StreamWriter writer = trace_.stream("s");
  const size_t n = kWordsPerPacket * 2 + 1;
  for (size_t i = 0; i < n; ++i) append_word(writer, kStart + i, i);
  ASSERT_TRUE(writer.flush_all());
  EXPECT_EQ(writer.written_events(), n);
  EXPECT_EQ(writer.packets_written(), 3u);
  const auto packets = check();
  ASSERT_EQ(packets.size(), 3u);
  EXPECT_EQ(packets[0].events.size(), kWordsPerPacket);
  EXPECT_EQ(packets[2].events.size(), 1u);
}

TEST_F(StreamWriterTest, flush_full_leaves_the_open_packet_and_goes_on_filling_it) {
  StreamWriter writer = trace_.stream("s");
  for (size_t i = 0; i < kWordsPerPacket + 7; ++i) append_word(writer, kStart + i, i);
  ASSERT_TRUE(writer.flush_full());
  EXPECT_EQ(check().size(), 1u);
  for (size_t i = kWordsPerPacket + 7; i < kWordsPerPacket * 2; ++i) append_word(writer, kStart + i, i);
  ASSERT_TRUE(writer.flush_all());
  const auto events = all_events(check());
  ASSERT_EQ(events.size(), kWordsPerPacket * 2);
  for (size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].time, kStart + i);
}

TEST_F(StreamWriterTest, many_events_pass_through_the_bounded_buffer) {
  StreamWriter writer = trace_.stream("s");
  const size_t n = 1'000'000;
  for (size_t i = 0; i < n; ++i) append_word(writer, kStart + i, i * i);
  ASSERT_TRUE(writer.flush_all());
  const auto events = all_events(check());
  ASSERT_EQ(events.size(), n);
  for (size_t i = 0; i < n; ++i) {
    uint64_t word;
    std::memcpy(&word, events[i].fields.data(), 8);
    ASSERT_EQ(word, i * i);
  }
}

TEST_F(StreamWriterTest, time_never_goes_backwards) {
  StreamWriter writer = trace_.stream("s");
  for (const uint64_t time : {kStart, kStart - 100, kStart + 5, kStart + 4, uint64_t{0}})
    append_word(writer, time, 1);
  ASSERT_TRUE(writer.flush_all());
  append_word(writer, kStart - 1, 1);
  ASSERT_TRUE(writer.flush_all());
  std::vector<uint64_t> offsets;
  for (const FileEvent& event : all_events(check())) offsets.push_back(event.time - kStart);
  EXPECT_EQ(offsets, (std::vector<uint64_t>{0, 0, 5, 5, 5, 5}));
}

TEST_F(StreamWriterTest, no_packet_spans_two_to_the_47_ns) {
  StreamWriter writer = trace_.stream("s");
  append_word(writer, kStart, 1);
  append_word(writer, kStart + (uint64_t{1} << 47) - 1, 2);
  append_word(writer, kStart + (uint64_t{1} << 47), 3);
  ASSERT_TRUE(writer.flush_all());
  EXPECT_EQ(check().size(), 2u);
}

TEST_F(StreamWriterTest, nothing_appended_leaves_an_empty_file) {
  StreamWriter writer = trace_.stream("s");
  ASSERT_TRUE(writer.flush_all());
  EXPECT_EQ(check().size(), 0u);
}

TEST_F(StreamWriterTest, flushing_twice_writes_nothing_new) {
  StreamWriter writer = trace_.stream("s");
  append_word(writer, kStart, 1);
  writer.set_discarded(3);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(writer.flush_all());
  const auto packets = check();
  ASSERT_EQ(packets.size(), 2u) << "the event, and an empty one that tells of the 3";
  EXPECT_EQ(packets[0].discarded, 0u);
  EXPECT_EQ(packets[1].discarded, 3u);
}

TEST_F(StreamWriterTest, discards_are_told_between_the_events_around_them) {
  StreamWriter writer = trace_.stream("s");
  for (uint64_t i = 0; i < 5; ++i) append_word(writer, kStart + i, i);
  writer.set_discarded(7, kStart + 30);
  writer.set_discarded(9, kStart + 40);
  for (uint64_t i = 50; i < 55; ++i) append_word(writer, kStart + i, i);
  writer.set_discarded(10, kStart + 1000);  // read late
  append_word(writer, kStart + 60, 60);
  ASSERT_TRUE(writer.flush_all());
  const auto packets = check();
  ASSERT_EQ(packets.size(), 5u);
  const auto facts = [&](size_t i) {
    return std::tuple(packets[i].begin - kStart, packets[i].end - kStart, packets[i].events.size(),
                      packets[i].discarded);
  };
  EXPECT_EQ(facts(0), std::tuple(0, 4, 5, 0));
  EXPECT_EQ(facts(1), std::tuple(4, 40, 0, 9));
  EXPECT_EQ(facts(2), std::tuple(50, 54, 5, 9));
  EXPECT_EQ(facts(3), std::tuple(54, 60, 0, 10));
  EXPECT_EQ(facts(4), std::tuple(60, 60, 1, 10));
}

TEST_F(StreamWriterTest, a_last_empty_packet_carries_late_discards) {
  StreamWriter writer = trace_.stream("s");
  append_word(writer, kStart, 1);
  ASSERT_TRUE(writer.flush_all());
  writer.set_discarded(9, kStart + 50);
  writer.set_discarded(8, kStart + 60);
  ASSERT_TRUE(writer.flush_all());
  const auto packets = check();
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(packets[1].discarded, 9u) << "the count never shrinks";
  EXPECT_TRUE(packets[1].events.empty());
  EXPECT_EQ(packets[1].end, kStart + 50);
}

TEST_F(StreamWriterTest, fields_larger_than_a_packet_are_lost_and_counted) {
  StreamWriter writer = trace_.stream("s");
  const std::vector<uint8_t> huge(kMaxFieldsSize + 1);
  append_word(writer, kStart, 1);
  writer.append(kStart, 1, huge.data(), uint32_t(huge.size()));
  append_word(writer, kStart + 1, 2);
  ASSERT_TRUE(writer.flush_all());
  EXPECT_EQ(writer.lost_events(), 1u);
  EXPECT_EQ(all_events(check()).size(), 2u);
}

TEST_F(StreamWriterTest, fields_as_large_as_a_packet_fit) {
  StreamWriter writer = trace_.stream("s");
  const std::vector<uint8_t> big(kMaxFieldsSize, 0xAB);
  for (int i = 0; i < 3; ++i) writer.append(kStart, 1, big.data(), uint32_t(big.size()));
  ASSERT_TRUE(writer.flush_all());
  EXPECT_EQ(check_stream(scratch_ / "trace/s", {{1, kMaxFieldsSize}}).size(), 3u);
}

TEST_F(StreamWriterTest, the_destructor_and_a_move_lose_nothing) {
  {
    StreamWriter first = trace_.stream("s");
    append_word(first, kStart, 1);
    StreamWriter second = std::move(first);
    append_word(second, kStart + 1, 2);
    StreamWriter third = trace_.stream("other", 1);
    append_word(third, kStart, 1);
    third = std::move(second);
    append_word(third, kStart + 2, 3);
  }
  EXPECT_EQ(all_events(check()).size(), 3u);
  EXPECT_EQ(all_events(check_stream(scratch_ / "trace/other", kOneWord)).size(), 1u);
}

TEST_F(StreamWriterTest, an_existing_file_or_link_is_not_overwritten) {
  { StreamWriter writer = trace_.stream("s"); }
  EXPECT_FALSE(StreamWriter::create(trace_.dir.dir_fd(), "s", trace_.uuid, {}));
  std::filesystem::create_symlink("/nonexistent", scratch_ / "trace/link");
  EXPECT_FALSE(StreamWriter::create(trace_.dir.dir_fd(), "link", trace_.uuid, {}));
}

// Appends until well past the failure; checks that what is in the file and what is counted as lost is all
// there was.
void fill_until_failure(StreamWriter& writer, size_t n) {
  for (size_t i = 0; i < n; ++i) append_word(writer, kStart + i, i);
  const Status status = writer.flush_all();
  EXPECT_FALSE(status);
  EXPECT_TRUE(writer.failed());
  EXPECT_FALSE(writer.flush_full()) << "the error is remembered";
  append_word(writer, kStart + n, n);
  EXPECT_EQ(writer.written_events() + writer.lost_events(), n + 1);
}

void expect_readable(const std::string& dir, size_t events) {
  for (const std::string& reader : kReaders) {
    const ReaderOutput output = read_trace(reader, dir);
    EXPECT_EQ(output.exit_code, 0) << reader << output.errors;
    EXPECT_EQ(output.lines.size(), events) << reader;
  }
}

TEST_F(StreamWriterTest, a_write_cut_by_the_file_size_limit_leaves_whole_packets) {
  for (const rlim_t limit : {rlim_t{0}, rlim_t{1000}, rlim_t{4096}, rlim_t{3 * 4096 + 1}, rlim_t{700'001}}) {
    SCOPED_TRACE(limit);
    const std::string name = "s" + std::to_string(limit);
    StreamWriter writer = trace_.stream(name, limit);
    rlimit before;
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{limit, before.rlim_max};
    auto* handler = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    fill_until_failure(writer, 100'000);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(writer.packets_written(), limit / 4096);
    const auto packets = check_stream(scratch_ / ("trace/" + name), kOneWord);
    EXPECT_EQ(all_events(packets).size(), writer.written_events());
    if (packets.size() >= 2) {
      ASSERT_FALSE(writer.flush_all());  // tells the one event that came after the failure, too
      EXPECT_EQ(check_stream(scratch_ / ("trace/" + name), kOneWord).back().discarded, writer.lost_events());
    }
    std::filesystem::rename(scratch_ / ("trace/" + name), scratch_ / "trace/s");
    expect_readable(scratch_ / "trace", writer.written_events());
  }
}

TEST_F(StreamWriterTest, a_file_that_was_removed_has_lost_everything) {
  StreamWriter writer = trace_.stream("s");
  for (size_t i = 0; i < kWordsPerPacket * 3; ++i) append_word(writer, kStart + i, i);
  ASSERT_TRUE(writer.flush_full());
  std::filesystem::remove(scratch_ / "trace/s");
  append_word(writer, kStart + kWordsPerPacket * 3, 1);
  const Status status = writer.flush_all();
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message().find("removed"), std::string::npos);
  EXPECT_EQ(writer.lost_events(), kWordsPerPacket * 3 + 1);
  EXPECT_EQ(writer.written_events(), 0u);
}

TEST_F(StreamWriterTest, a_file_removed_between_packets_is_noticed_at_the_next_write) {
  StreamWriter writer = trace_.stream("s");
  std::filesystem::remove(scratch_ / "trace/s");
  for (size_t i = 0; i < kWordsPerPacket * 2; ++i) append_word(writer, kStart + i, i);
  EXPECT_FALSE(writer.flush_full());
  EXPECT_EQ(writer.lost_events(), kWordsPerPacket * 2);
}

TEST_F(StreamWriterTest, a_full_disk_leaves_a_readable_trace) {
  const std::string disk = scratch_ / "disk";
  std::filesystem::create_directory(disk);
  if (::mount("none", disk.c_str(), "tmpfs", 0, "size=300k") != 0)
    GTEST_SKIP() << "needs the right to mount; the file size limit tests the same path";
  {
    TestTrace trace(disk + "/trace", {one_word_class()});
    StreamWriter writer = trace.stream("s");
    fill_until_failure(writer, 100'000);
    EXPECT_GT(writer.written_events(), 10'000u);
    EXPECT_EQ(all_events(check_stream(disk + "/trace/s", kOneWord)).size(), writer.written_events());
    expect_readable(disk + "/trace", writer.written_events());
  }
  EXPECT_EQ(::umount2(disk.c_str(), MNT_DETACH), 0);
}

}  // namespace
}  // namespace blip::ctf::testing
