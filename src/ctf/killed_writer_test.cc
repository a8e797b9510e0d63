// SPDX-License-Identifier: MIT
// A process that does nothing but write is killed at a random moment, mostly inside write(2): the trace stays
// readable.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "ctf/test_support.h"

namespace blip::ctf::testing {
namespace {

constexpr uint64_t kStart = 5'000'000'000'000;
constexpr int kRounds = 30;
constexpr int kReadBack = 8;

// On disk and in memory: file systems differ in where they notice the signal.
std::vector<std::string> places() {
  std::vector<std::string> found = {::testing::TempDir()};
  if (::access("/dev/shm", W_OK) == 0) found.push_back("/dev/shm");
  return found;
}

class KilledWriter : public ::testing::TestWithParam<std::string> {
 protected:
  // Writes `chunk` events at a time.
  void write_and_kill_after(useconds_t microseconds, uint64_t chunk) {
    std::filesystem::remove(file_);
    const pid_t child = ::fork();
    if (child == 0) {
      StreamWriter writer = trace_.stream("s");
      for (uint64_t i = 0;; ++i) {
        append_word(writer, kStart + i, i);
        if (i % chunk == 0 && !writer.flush_full()) ::_exit(1);
      }
    }
    const auto wrote = [&] {
      return std::filesystem::exists(file_) && std::filesystem::file_size(file_) > 0;
    };
    for (int i = 0; i < 50'000 && !wrote(); ++i) ::usleep(100);  // a busy machine
    ::usleep(microseconds);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }

  void read_back() const {
    for (const std::string& reader : kReaders) {
      const ReaderOutput output = read_silently(reader, scratch_ / "trace");
      ASSERT_EQ(output.exit_code, 0) << reader << output.errors;
      ASSERT_EQ(output.errors, "") << reader;
    }
  }

  ScratchDir scratch_{GetParam()};
  TestTrace trace_{scratch_ / "trace", {one_word_class()}};
  std::string file_ = scratch_ / "trace/s";
};
INSTANTIATE_TEST_SUITE_P(On, KilledWriter, ::testing::ValuesIn(places()),
                         [](const auto& place) { return place.index == 0 ? "disk" : "memory"; });

TEST_P(KilledWriter, leaves_a_readable_trace) {
  int with_events = 0;
  int cut_inside_write = 0;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const uint64_t packets = round % 2 ? 9 : 256;
    write_and_kill_after(useconds_t(500 + (round * 7919) % 3000), packets * 250);
    if (!std::filesystem::exists(file_)) continue;
    const auto events = all_events(check_stream(file_, kOneWord));
    for (size_t i = 0; i < events.size(); ++i) ASSERT_EQ(events[i].time, kStart + i);
    if (events.empty()) continue;
    cut_inside_write += std::filesystem::file_size(file_) % (packets * 4096) != 0;
    if (++with_events <= kReadBack) read_back();
  }
  RecordProperty("cut_inside_write", cut_inside_write);
  EXPECT_GT(with_events, kReadBack) << "the writer was killed before it wrote";
}

}  // namespace
}  // namespace blip::ctf::testing
