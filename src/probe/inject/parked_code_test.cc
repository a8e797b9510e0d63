// SPDX-License-Identifier: MIT
// Signal frames and saved registers in the memory of a child that does nothing.
#include "probe/inject/parked_code.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace blip::probe {
namespace {

constexpr uint64_t kPc = 0x123456789;
constexpr uint64_t kFlags = 0x246;
constexpr uint64_t kSegments = 0x002b'0000'0000'0033;

// Has the memory of this process as it is now; has looked at `touched`, for a fork does not copy the page
// table of shared memory.
class Copy {
 public:
  explicit Copy(const volatile uint64_t* touched = nullptr) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const char seen = touched != nullptr && *touched != 0;
      if (::write(ready[1], &seen, 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    char seen;
    EXPECT_EQ(::read(ready[0], &seen, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Copy() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

  std::vector<InterruptedCode> parked(std::vector<AddrRange> places) const {
    auto memory = proc::Memory::open(pid_);
    auto maps = proc::read_maps(pid_);
    auto found = find_parked_code(*memory, *maps, places);
    EXPECT_TRUE(found);
    return found ? found->found : std::vector<InterruptedCode>();
  }

 private:
  pid_t pid_;
};

const std::vector<AddrRange> kPlaces{{TargetAddr(kPc - 0x2000), TargetAddr(kPc - 0x1000)},
                                     {TargetAddr(kPc), TargetAddr(kPc + 1)}};

uint64_t* memory_of(int flags) {
  return static_cast<uint64_t*>(
      ::mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0));
}

TEST(ParkedCode, saved_registers_are_found_in_private_and_shared_memory) {
  for (const int flags : {MAP_PRIVATE, MAP_SHARED}) {
    uint64_t* words = memory_of(flags);
    words[1000] = 77;
    words[1001] = kPc;
    words[1002] = kFlags;
    words[1003] = kSegments;
    const Copy copy(&words[1000]);
    const auto found = copy.parked(kPlaces);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].pc.value, kPc);
    EXPECT_EQ(found[0].sp.value, 77u);
    EXPECT_TRUE(copy.parked({{TargetAddr(kPc + 1), TargetAddr(kPc + 9)}}).empty());
    ::munmap(words, 1 << 16);
  }
}

TEST(ParkedCode, a_pc_without_its_segment_register_is_a_number) {
  uint64_t* words = memory_of(MAP_PRIVATE);
  words[10] = kPc;
  words[11] = kFlags;
  words[20] = kPc;
  words[21] = ~uint64_t{0};
  words[22] = kSegments;
  EXPECT_TRUE(Copy().parked(kPlaces).empty());
  ::munmap(words, 1 << 16);
}

class Frames : public testing::Test {
 protected:
  static constexpr size_t kFrame = 512;  // index of the frame's first word
  static constexpr size_t kStackSp = kFrame + 3, kStackFlags = kFrame + 4, kStackSize = kFrame + 5;
  static constexpr size_t kRsp = kFrame + 6 + 15, kRip = kRsp + 1, kCs = kRip + 2;

  Frames()
      : words_(memory_of(MAP_PRIVATE)),
        code_(static_cast<uint8_t*>(
            ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    constexpr std::array<uint8_t, 9> kRestorer{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    std::copy(kRestorer.begin(), kRestorer.end(), code_);
    ::mprotect(code_, 4096, PROT_READ | PROT_EXEC);
    words_[kFrame] = reinterpret_cast<uint64_t>(code_);
    words_[kRsp] = address(kCs + 10);
    words_[kRip] = kPc;
    words_[kCs] = kSegments;
  }
  ~Frames() override {
    ::munmap(words_, 1 << 16);
    ::munmap(code_, 4096);
  }

  uint64_t address(size_t word) const { return reinterpret_cast<uint64_t>(words_ + word); }

  // By a thread with this stack pointer.
  std::vector<InterruptedCode> interrupted(uint64_t rsp) const {
    const Copy copy;
    auto memory = proc::Memory::open(copy.pid());
    auto maps = proc::read_maps(copy.pid());
    proc::Thread thread;
    thread.registers.rsp = rsp;
    auto codes = SignalFrames({&thread, 1}, *memory, *maps).interrupted(0);
    EXPECT_TRUE(codes);
    return codes ? *codes : std::vector<InterruptedCode>();
  }

  uint64_t* words_;
  uint8_t* code_;
};

TEST_F(Frames, the_frame_of_a_handler_is_found) { EXPECT_EQ(interrupted(address(100)).size(), 1u); }

TEST_F(Frames, a_word_of_zero_is_no_restorer) {
  words_[kFrame] = 0;
  EXPECT_TRUE(interrupted(address(100)).empty());
}

TEST_F(Frames, a_frame_on_an_alternate_stack_that_nobody_is_on_is_old) {
  words_[kStackSp] = address(kFrame - 100);
  words_[kStackSize] = 8 * 300;
  EXPECT_TRUE(interrupted(address(100)).empty());
  EXPECT_EQ(interrupted(address(kFrame - 50)).size(), 1u);
}

TEST_F(Frames, one_that_is_disarmed_while_its_handler_runs_is_never_old) {
  words_[kStackSp] = address(kFrame - 100);
  words_[kStackFlags] = uint64_t{1} << 31;
  words_[kStackSize] = 8 * 300;
  EXPECT_EQ(interrupted(address(100)).size(), 1u);
}

// A handler on another stack in the same mapping has interrupted the one on this.
TEST_F(Frames, an_alternate_stack_that_a_handler_goes_back_to_is_in_use) {
  words_[kStackSp] = address(kFrame - 100);
  words_[kStackSize] = 8 * 300;
  constexpr size_t kOther = 200;
  std::copy(words_ + kFrame, words_ + kCs + 1, words_ + kOther);
  words_[kOther + 3] = words_[kOther + 5] = 0;
  words_[kOther + kRsp - kFrame] = address(kFrame - 50);
  EXPECT_EQ(interrupted(address(100)).size(), 2u);
}

}  // namespace
}  // namespace blip::probe
