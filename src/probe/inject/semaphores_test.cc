// SPDX-License-Identifier: MIT
#include "probe/inject/semaphores.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mapping.h"

namespace blip::probe {
namespace {

// In the data of this program's file, as those of marks are.
volatile uint16_t semaphores[4] = {0, 7, UINT16_MAX, 0};

// A child with the same memory that does nothing; what it does to its words is its own.
class SemaphoresTest : public testing::Test {
 protected:
  void SetUp() override {
    table_ = *Mapping::create(4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    semaphores[3] = 0;  // its page is this process's own before the fork
    start();
  }
  void TearDown() override { stop(); }

  void start() {
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) ::pause();
    }
    memory_.emplace(*proc::Memory::open(pid_));
    maps_ = *proc::read_maps(pid_);
  }
  void stop() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  static TargetAddr address(size_t i) { return TargetAddr(reinterpret_cast<uint64_t>(&semaphores[i])); }
  uint16_t value(size_t i) { return *memory_->read_value<uint16_t>(address(i)); }
  void set(size_t i, uint16_t value) {
    ASSERT_TRUE(memory_->write(address(i), {reinterpret_cast<const uint8_t*>(&value), sizeof value}));
  }
  AddrRange table(size_t entries = 8) {
    const TargetAddr begin(reinterpret_cast<uint64_t>(table_.data()));
    return {begin, begin + entries * sizeof(abi::SemaphoreEntry)};
  }
  size_t raise(std::vector<size_t> which, size_t entries = 8) {
    std::vector<TargetAddr> all;
    for (const size_t i : which) all.push_back(address(i));
    return *Semaphores(*memory_, table(entries)).raise(all, maps_);
  }
  size_t lower() { return *Semaphores(*memory_, table()).lower(maps_); }

  Mapping table_;
  pid_t pid_ = 0;
  std::optional<proc::Memory> memory_;
  std::vector<proc::Map> maps_;
};

TEST_F(SemaphoresTest, count_one_more_listener_and_then_one_less) {
  EXPECT_EQ(raise({0, 1}), 0U);
  EXPECT_EQ(value(0), 1U);
  EXPECT_EQ(value(1), 8U);
  EXPECT_EQ(lower(), 0U);
  EXPECT_EQ(value(0), 0U);
  EXPECT_EQ(value(1), 7U);
}

TEST_F(SemaphoresTest, are_raised_and_lowered_once) {
  raise({0, 0});
  raise({0});
  EXPECT_EQ(value(0), 1U);
  lower();
  EXPECT_EQ(lower(), 0U);
  EXPECT_EQ(value(0), 0U);
}

TEST_F(SemaphoresTest, that_somebody_else_has_lowered_are_told) {
  raise({0, 1});
  set(0, 0);
  EXPECT_EQ(lower(), 1U);
  EXPECT_EQ(value(0), 0U);
  EXPECT_EQ(value(1), 7U);
}

TEST_F(SemaphoresTest, at_their_limit_are_left) {
  EXPECT_EQ(raise({2}), 1U);
  EXPECT_EQ(lower(), 0U);
  EXPECT_EQ(value(2), UINT16_MAX);
}

TEST_F(SemaphoresTest, of_a_library_that_has_gone_are_not_touched) {
  raise({0, 1});
  ASSERT_TRUE(Semaphores(*memory_, table()).forget({address(0), address(1)}));
  lower();
  EXPECT_EQ(value(0), 1U);
  EXPECT_EQ(value(1), 7U);
  raise({0});  // it has come again
  EXPECT_EQ(value(0), 2U);
}

TEST_F(SemaphoresTest, of_another_file_at_their_place_are_not_touched) {
  raise({0});
  for (proc::Map& map : maps_) ++map.inode;
  EXPECT_EQ(lower(), 0U);
  EXPECT_EQ(value(0), 1U);
}

TEST_F(SemaphoresTest, outside_of_a_file_s_data_are_refused) {
  for (proc::Map& map : maps_) map.write = false;
  EXPECT_EQ(raise({0}), 1U);
  EXPECT_EQ(value(0), 0U);
}

TEST_F(SemaphoresTest, without_room_are_refused) {
  EXPECT_EQ(raise({0, 1}, 1), 1U);
  EXPECT_EQ(value(0), 1U);
  EXPECT_EQ(value(1), 7U);
}

// Whatever a target has written into the table.
TEST_F(SemaphoresTest, of_a_scribbled_table_do_no_harm) {
  std::vector<uint8_t> bytes(table().size());
  for (int round = 0; round < 200; ++round) {
    for (uint8_t& b : bytes) b = static_cast<uint8_t>(std::rand());
    ASSERT_TRUE(memory_->write(table().begin, bytes));
    (void)Semaphores(*memory_, table()).lower(maps_);
  }
  EXPECT_EQ(value(1), 7U);
}

}  // namespace
}  // namespace blip::probe
