// SPDX-License-Identifier: MIT
// Two traces in one program: nothing of one is the business of the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "probe/arm/test_worker.h"
#include "session/session.h"

extern "C" {
// Looked up by name in /proc/PID/exe.
[[gnu::noinline, gnu::used]] uint64_t traced_in_one(uint64_t n) {
  asm volatile("" : "+r"(n));
  return n * 3 + 1;
}
[[gnu::noinline, gnu::used]] uint64_t traced_in_another(uint64_t n) {
  asm volatile("" : "+r"(n));
  return n * 3 + 1;
}
}

namespace blip::session {
namespace {

using testing::IsEmpty;

constexpr uint64_t kCalls = 10'000;  // their events have room in the rings, however slow the machine is
constexpr int kThreads = 2;

class ScratchDir {
 public:
  ScratchDir() { EXPECT_TRUE(::mkdtemp(path_.data())); }
  ~ScratchDir() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_ = testing::TempDir() + "/blip-sessions-XXXXXX";
};

// Events of that name that a reader finds in the trace.
uint64_t events_in(const std::string& dir, const std::string& name) {
  const std::string command = "babeltrace2 " + dir;
  FILE* const out = ::popen(command.c_str(), "r");
  uint64_t lines = 0;
  std::array<char, 4096> text;
  while (std::fgets(text.data(), text.size(), out))
    lines += std::strstr(text.data(), name.c_str()) != nullptr;
  EXPECT_EQ(::pclose(out), 0) << command;
  return lines;
}

// A process, and a trace of it in a thread of its own.
class Traced {
 public:
  Traced(const char* name, probe::Worker::Function function, std::string dir)
      : worker_({function}, kThreads), function_(function), name_(name), dir_(std::move(dir)) {
    worker_.pause();
    options_.pids = {worker_.pid()};
    options_.probes.push_back({*elf::parse_spec(name)});
    options_.output_dir = dir_;
  }
  ~Traced() {
    control_.request_stop();
    if (thread_.joinable()) thread_.join();
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;

  void begin() {
    thread_ = std::thread([this] {
      auto started = Session::start(options_, control_);
      if (!started) error_ = started.error().message();
      is_decided_ = true;
      if (started) summary_ = (*started)->run({});
      has_ended_ = true;
    });
  }
  void wait_until_armed() const {
    while (!is_decided_) ::usleep(500);
    ASSERT_FALSE(error_) << *error_;
  }
  void call() {
    worker_.run_exactly(kCalls);
    calls_ += kCalls;
  }
  void stop() {
    control_.request_stop();
    thread_.join();
  }
  bool has_ended() const { return has_ended_; }

  void expect_complete() {
    ASSERT_TRUE(summary_);
    EXPECT_EQ(summary_->end, End::kStopped);
    EXPECT_EQ(summary_->events, calls_);
    EXPECT_EQ(summary_->discarded, 0U);
    EXPECT_EQ(summary_->skipped, 0U);
    EXPECT_THAT(summary_->warnings, IsEmpty());
    EXPECT_EQ(events_in(dir_, " " + name_ + ":"), calls_);
    EXPECT_EQ(worker_.errors(), 0U);
  }
  void expect_restored() {
    std::array<uint8_t, 16> bytes;
    const auto memory = proc::Memory::open_read_only(worker_.pid());
    ASSERT_TRUE(memory);
    const auto address = reinterpret_cast<uint64_t>(function_);
    ASSERT_TRUE(memory->read(TargetAddr(address), bytes));
    EXPECT_EQ(std::memcmp(bytes.data(), reinterpret_cast<const void*>(address), bytes.size()), 0);
  }

 private:
  probe::Worker worker_;
  const probe::Worker::Function function_;
  const std::string name_;
  const std::string dir_;
  Options options_;
  Control control_;
  std::thread thread_;
  std::atomic<bool> is_decided_{false}, has_ended_{false};
  std::optional<std::string> error_;
  std::optional<Summary> summary_;
  uint64_t calls_ = 0;
};

TEST(TwoSessions, one_is_stopped_while_the_other_goes_on_recording) {
  const ScratchDir dir;
  Traced one("traced_in_one", traced_in_one, dir / "one");
  Traced other("traced_in_another", traced_in_another, dir / "other");
  one.begin();
  other.begin();
  one.wait_until_armed();
  other.wait_until_armed();

  std::thread calls([&] { one.call(); });
  other.call();
  calls.join();
  std::thread more_calls([&] { other.call(); });
  one.stop();
  more_calls.join();
  one.expect_complete();
  one.expect_restored();

  EXPECT_FALSE(other.has_ended());
  other.call();
  other.stop();
  other.expect_complete();
  other.expect_restored();
}

TEST(TwoSessions, a_stop_that_comes_first_leaves_the_process_alone) {
  const ScratchDir dir;
  probe::Worker worker({traced_in_one}, kThreads);
  Options options;
  options.pids = {worker.pid()};
  options.probes.push_back({*elf::parse_spec("traced_in_one")});
  options.output_dir = dir / "none";
  Control control;
  control.request_stop();
  const auto started = Session::start(options, control);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind(), ErrorKind::kTimeout);
  EXPECT_FALSE(std::filesystem::exists(dir / "none"));
}

}  // namespace
}  // namespace blip::session
