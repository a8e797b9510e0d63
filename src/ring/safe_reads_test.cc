// SPDX-License-Identifier: MIT
// Real restartable sequences that read memory which other threads unmap, protect, move and map anew, with
// ranges published from what the kernel says is there. All in a child process: a fault is a failed test.
#include <gtest/gtest.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "ring/doomed.h"
#include "ring/range_publisher.h"
#include "ring/test_region.h"
#include "ring/test_safe_read.h"

namespace blip::ring {
namespace {

constexpr abi::Geometry kGeometry = {.ring_count = 1, .class_count = 2, .ranges = true};
constexpr uint64_t kPage = 4096, kAreaPages = 8, kAreas = 2, kArea = kAreaPages * kPage;
constexpr uint64_t kReadWrite = PROT_READ | PROT_WRITE, kMine = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;

constexpr unsigned kChangers = 2;

// What calls do before they take memory away.
enum class Steps { kAll, kNoMembarrier, kNoWait };

class Race {
 public:
  explicit Race(Steps steps) : steps_(steps) {
    region_.gate()->own_ranges = 1;
    blip_test_safe_read_owner = reinterpret_cast<uint64_t>(control());
    arena_ = reserve(kAreas * kArea, PROT_READ | PROT_WRITE);
    attic_ = reserve(kChangers * kArea, PROT_NONE);
  }

  // What is left over tells whether anything was tested.
  bool run(std::chrono::milliseconds time) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 3; ++i) threads.emplace_back([this, i] { read(i); });
    for (unsigned i = 0; i < kChangers; ++i) threads.emplace_back([this, i] { change(i); });
    threads.emplace_back([this] { publish(); });
    std::this_thread::sleep_for(time);
    stop_ = true;
    for (auto& t : threads) t.join();
    std::printf("reads %lu, elsewhere %lu, calls %lu, published %lu, in vain %lu\n", reads_.load(),
                elsewhere_.load(), calls_.load(), published_.load(), in_vain_.load());
    return reads_ != 0 && elsewhere_ != 0 && calls_ != 0 && published_ != 0;
  }

 private:
  static uint64_t reserve(uint64_t size, int prot) {
    return reinterpret_cast<uint64_t>(::mmap(nullptr, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  uint8_t* control() const { return region_.region(); }

  void read(uint32_t index) {
    std::minstd_rand random(index + 1);
    uint64_t reads = 0, elsewhere = 0;
    while (!stop_.load(std::memory_order_relaxed)) {
      const uint64_t addr = arena_ + random() % (kAreas * kAreaPages) * kPage;
      for (unsigned i = 0; i < 8; ++i) {  // the same, so that hints are of use
        bool done = test_safe_read(control(), addr, index);
        if (!done && find_range(control(), addr, index)) done = test_safe_read(control(), addr, index);
        (done ? reads : elsewhere) += 1;
      }
    }
    reads_ += reads;
    elsewhere_ += elsewhere;
  }

  bool begin(uint32_t number, const uint64_t* args) {
    if (steps_ == Steps::kAll) return begin_call(control(), number, args);
    const Doom doom = doomed_by(number, args);
    if (doom.kind == Doom::kNothing) return false;
    const Unmapping unmapping = announce_unmap(control());
    cut_ranges(*unmapping.table, doom.begin, doom.end);
    cut_ranges(*unmapping.table, doom.other_begin, doom.other_end);
    if (steps_ == Steps::kNoWait) restart_sections(control());
    return true;
  }

  void call(uint32_t number, std::vector<uint64_t> args) {
    args.resize(6);
    const bool begun = begin(number, args.data());
    ::syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
    if (begun) end_unmap(control());
    ++calls_;
  }

  void change(uint32_t seed) {
    std::minstd_rand random(seed + 100);
    while (!stop_.load(std::memory_order_relaxed)) {
      const uint64_t addr = arena_ + random() % (kAreas * kAreaPages - kAreaPages) * kPage;
      const uint64_t size = (1 + random() % kAreaPages) * kPage;
      switch (random() % 5) {
        case 0:
          call(SYS_munmap, {addr, size});  // too small a hole for anything that libc maps meanwhile
          break;
        case 1:
          call(SYS_mprotect, {addr, size, PROT_NONE});
          break;
        case 2:
          call(SYS_madvise, {addr, size, MADV_DONTNEED});
          break;
        case 3:
          call(SYS_mmap, {addr, size, PROT_NONE, kMine, ~0ull});
          break;
        default:
          call(SYS_mremap, {addr, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, attic_ + seed * kArea});
          break;
      }
      call(SYS_mmap, {addr, size, kReadWrite, kMine, ~0ull});
      wait_for_publication();
    }
  }

  // So that readers find something.
  void wait_for_publication() const {
    const uint64_t* word = &range_control(control())->word;
    const uint32_t now = abi::range_publication(__atomic_load_n(word, __ATOMIC_RELAXED));
    while (!stop_.load(std::memory_order_relaxed) &&
           abi::range_publication(__atomic_load_n(word, __ATOMIC_RELAXED)) == now)
      ::usleep(20);
  }

  std::vector<AddrRange> readable() const {
    std::vector<AddrRange> ranges;
    FILE* maps = std::fopen("/proc/self/maps", "r");
    char line[512], prot[8];
    unsigned long begin, end;
    while (std::fgets(line, sizeof line, maps)) {
      if (std::sscanf(line, "%lx-%lx %7s", &begin, &end, prot) != 3 || prot[0] != 'r') continue;
      begin = std::max(begin, arena_);
      end = std::min(end, arena_ + kAreas * kArea);
      if (begin < end) ranges.push_back({TargetAddr(begin), TargetAddr(end)});
    }
    std::fclose(maps);
    return ranges;
  }

  void publish() {
    RangePublisher publisher(kGeometry, control());
    while (!stop_.load(std::memory_order_relaxed)) {
      const auto look = publisher.begin();
      if (!look) {
        std::this_thread::yield();
        continue;
      }
      (publisher.publish(*look, readable(), TargetAddr(0)) ? published_ : in_vain_) += 1;
    }
  }

  Steps steps_;
  TestRegion region_{kGeometry};
  uint64_t arena_ = 0;  // whose readable pages are published
  uint64_t attic_ = 0;  // where others are moved to
  std::atomic<bool> stop_ = false;
  std::atomic<uint64_t> reads_ = 0, elsewhere_ = 0, calls_ = 0, published_ = 0, in_vain_ = 0;
};

std::chrono::milliseconds run_time() {
  const char* seconds = std::getenv("BLIP_STRESS_SECONDS");
  return std::chrono::milliseconds(seconds ? 1000 * std::atoi(seconds) : 1500);
}

class SafeReads : public testing::Test {
 protected:
  void SetUp() override {
    if (__rseq_size == 0) GTEST_SKIP() << "this libc did not register rseq";
    if (::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0) != 0)
      GTEST_SKIP() << "no membarrier that restarts sections";
  }

  // The status of a child that does it.
  static int race(Steps steps, std::chrono::milliseconds time) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0);
      const bool fine = Race(steps).run(time);
      std::fflush(stdout);
      ::_exit(fine ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
  }
};

TEST_F(SafeReads, never_fault) { EXPECT_EQ(race(Steps::kAll, run_time()), 0); }

// To see that the test can fail: how soon it does is a matter of luck, so only `make torture` asks.
TEST_F(SafeReads, DISABLED_fault_without_the_membarrier) {
  const int status = race(Steps::kNoMembarrier, std::chrono::seconds(30));
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) << status;
}

TEST_F(SafeReads, DISABLED_fault_without_the_wait) {
  const int status = race(Steps::kNoWait, std::chrono::seconds(120));
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) << status;
}

}  // namespace
}  // namespace blip::ring
