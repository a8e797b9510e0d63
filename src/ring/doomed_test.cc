// SPDX-License-Identifier: MIT
#include "ring/doomed.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include <vector>

#include "ring/range_publisher.h"
#include "ring/test_region.h"

namespace blip::ring {
namespace {

struct Case {
  const char* what;
  uint32_t number;
  std::vector<uint64_t> args;
  Doom::Kind kind;
  uint64_t begin = 0, end = 0;
};

constexpr uint64_t kP = 0x7000'0000'0000;
constexpr uint64_t kRw = PROT_READ | PROT_WRITE;
constexpr uint64_t kGuardInstall = 102;
constexpr uint64_t kEnd = UINT64_MAX;

const Case kCases[] = {
    {"munmap", SYS_munmap, {kP, 0x1800}, Doom::kMemory, kP, kP + 0x2000},
    {"munmap of everything", SYS_munmap, {0, 0x7fff'ffff'f000}, Doom::kMemory, 0, 0x7fff'ffff'f000},
    {"munmap beyond the end", SYS_munmap, {kP, ~0ull}, Doom::kNothing},
    {"munmap of nothing", SYS_munmap, {kP, 0}, Doom::kNothing},
    {"munmap in the middle of a page", SYS_munmap, {kP + 8, 0x1000}, Doom::kNothing},
    {"mmap anywhere", SYS_mmap, {kP, 0x1000, kRw, MAP_PRIVATE}, Doom::kNothing},
    {"mmap over", SYS_mmap, {kP, 1, kRw, MAP_PRIVATE | MAP_FIXED}, Doom::kMemory, kP, kP + 0x1000},
    {"mmap beside", SYS_mmap, {kP, 1, kRw, MAP_PRIVATE | MAP_FIXED_NOREPLACE}, Doom::kNothing},
    {"mmap of a library", SYS_mmap, {0, 0x1000, PROT_EXEC, MAP_PRIVATE}, Doom::kNewCode, 0, kEnd},
    {"mmap of code to come", SYS_mmap, {0, 1, PROT_EXEC | kRw, MAP_ANONYMOUS}, Doom::kAll},
    {"mprotect readable", SYS_mprotect, {kP, 0x1000, PROT_READ}, Doom::kNothing},
    {"mprotect none", SYS_mprotect, {kP, 0x1000, PROT_NONE}, Doom::kMemory, kP, kP + 0x1000},
    {"mprotect write only", SYS_mprotect, {kP, 1, PROT_WRITE}, Doom::kMemory, kP, kP + 0x1000},
    {"mprotect code", SYS_mprotect, {kP, 1, PROT_READ | PROT_EXEC}, Doom::kAll},
    {"pkey_mprotect without a key", SYS_pkey_mprotect, {kP, 1, PROT_READ, ~0ull}, Doom::kNothing},
    {"pkey_mprotect", SYS_pkey_mprotect, {kP, 1, PROT_READ, 1}, Doom::kAll},
    {"pkey_mprotect none", SYS_pkey_mprotect, {kP, 1, 0, 0}, Doom::kMemory, kP, kP + 0x1000},
    {"brk asked", SYS_brk, {0}, Doom::kNothing},
    {"brk", SYS_brk, {0x5555'0000'1234}, Doom::kHeap, 0x5555'0000'1000, 0},
    {"mremap", SYS_mremap, {kP, 0x2000, 0x9000, MREMAP_MAYMOVE}, Doom::kMemory, kP, kP + 0x2000},
    {"madvise willneed", SYS_madvise, {kP, 0x1000, MADV_WILLNEED}, Doom::kNothing},
    {"madvise dontneed", SYS_madvise, {kP, 0x1000, MADV_DONTNEED}, Doom::kNothing},
    {"madvise free", SYS_madvise, {kP, 0x1000, MADV_FREE}, Doom::kNothing},
    {"madvise guard", SYS_madvise, {kP, 0x1000, kGuardInstall}, Doom::kMemory, kP, kP + 0x1000},
    {"madvise remove", SYS_madvise, {kP, 0x1000, MADV_REMOVE}, Doom::kMemory, kP, kP + 0x1000},
    {"madvise of the future", SYS_madvise, {kP, 1, 77}, Doom::kMemory, kP, kP + 0x1000},
    {"process_madvise cold", SYS_process_madvise, {3, kP, 1, MADV_COLD}, Doom::kNothing},
    {"process_madvise guard", SYS_process_madvise, {3, kP, 1, kGuardInstall}, Doom::kMemory, 0, kEnd},
    {"shmat", SYS_shmat, {1, kP, 0}, Doom::kNothing},
    {"shmat over", SYS_shmat, {1, kP, SHM_REMAP}, Doom::kMemory, kP, kEnd},
    {"shmat of code", SYS_shmat, {1, kP, SHM_EXEC}, Doom::kAll},
    {"shmdt", SYS_shmdt, {kP}, Doom::kNothing},
    {"seccomp", SYS_seccomp, {1, 0, 0}, Doom::kFilter},
    {"seccomp of x32", 0x40000000 | SYS_seccomp, {1, 0, 0}, Doom::kFilter},
    {"prctl seccomp", SYS_prctl, {PR_SET_SECCOMP, 2, 0}, Doom::kFilter},
    {"prctl seccomp, as an int", SYS_prctl, {PR_SET_SECCOMP | uint64_t{1} << 32, 2, 0}, Doom::kFilter},
    {"prctl dispatch", SYS_prctl, {59, 1, 0}, Doom::kFilter},
    {"userfaultfd", SYS_userfaultfd, {0}, Doom::kAll},
    {"prctl name", SYS_prctl, {PR_SET_NAME, 0}, Doom::kNothing},
    {"read", SYS_read, {0, kP, 0x1000}, Doom::kNothing},
};

TEST(Doomed, by_number_and_arguments) {
  for (Case c : kCases) {
    c.args.resize(6);
    const Doom doom = doomed_by(c.number, c.args.data());
    EXPECT_EQ(doom.kind, c.kind) << c.what;
    EXPECT_EQ(doom.begin, c.begin) << c.what;
    EXPECT_EQ(doom.end, c.end) << c.what;
    EXPECT_EQ(doom.other_end, 0u) << c.what;
  }
}

TEST(Doomed, a_mapping_that_is_moved_over_another) {
  const uint64_t args[6] = {kP, 0x1000, 0x3000, MREMAP_MAYMOVE | MREMAP_FIXED, kP + 0x8000, 0};
  const Doom doom = doomed_by(SYS_mremap, args);
  EXPECT_EQ(doom.end, kP + 0x1000);
  EXPECT_EQ(doom.other_begin, kP + 0x8000);
  EXPECT_EQ(doom.other_end, kP + 0xb000);
}

class DoomedCall : public testing::Test {
 protected:
  static constexpr abi::Geometry kGeometry = {.ring_count = 1, .class_count = 2, .ranges = true};

  DoomedCall() {
    region_.gate()->own_ranges = 1;
    const AddrRange ranges[] = {{TargetAddr(0x5000), TargetAddr(0x9000)},
                                {TargetAddr(kP), TargetAddr(kP + 0x9000)}};
    EXPECT_TRUE(publisher_.publish(publisher_.begin().value(), ranges, TargetAddr(0x9000)));
  }
  bool begin(uint32_t number, std::vector<uint64_t> args) {
    args.resize(6);
    return begin_call(region_.region(), number, args.data());
  }
  bool is_there(uint64_t addr) { return find_range(region_.region(), addr, 0); }

  TestRegion region_{kGeometry};
  RangePublisher publisher_{kGeometry, region_.region()};
};

TEST_F(DoomedCall, brk_takes_the_end_of_the_heap_and_nothing_else) {
  EXPECT_TRUE(begin(SYS_brk, {0x7000}));
  EXPECT_TRUE(is_there(0x6fff));
  EXPECT_FALSE(is_there(0x7000));
  EXPECT_TRUE(is_there(kP));
}

TEST_F(DoomedCall, brk_that_grows_takes_nothing) {
  EXPECT_TRUE(begin(SYS_brk, {0xa000}));
  EXPECT_TRUE(is_there(0x8fff));
  EXPECT_TRUE(is_there(kP));
}

TEST_F(DoomedCall, new_code_takes_all_until_blip_has_looked_at_it) {
  EXPECT_TRUE(begin(SYS_mmap, {0, 0x1000, PROT_EXEC | PROT_READ, MAP_PRIVATE}));
  EXPECT_FALSE(is_there(0x5000));
  end_unmap(region_.region());
}

TEST_F(DoomedCall, a_filter_closes_the_ranges_and_forbids_system_calls) {
  EXPECT_TRUE(begin_own_call(region_.gate()));
  end_own_call(region_.gate());
  EXPECT_FALSE(begin(SYS_seccomp, {1, 0, 0}));
  EXPECT_FALSE(begin_own_call(region_.gate()));
  EXPECT_EQ(region_.gate()->calls, 0u);
  EXPECT_EQ(region_.header()->filtered, 1u);
  EXPECT_TRUE(publisher_.is_closed());
  EXPECT_FALSE(is_there(0x5000));
}

TEST_F(DoomedCall, a_filter_of_a_process_without_ranges_forbids_them_too) {
  region_.gate()->own_ranges = 0;
  EXPECT_FALSE(begin(SYS_prctl, {PR_SET_SECCOMP, 1}));
  EXPECT_EQ(region_.gate()->no_syscalls, 1u);
}

TEST_F(DoomedCall, a_harmless_one_costs_nobody_anything) {
  EXPECT_FALSE(begin(SYS_mprotect, {kP, 0x1000, PROT_READ}));
  EXPECT_EQ(range_control(region_.region())->word >> 32, 0u);
  EXPECT_TRUE(is_there(kP));
}

}  // namespace
}  // namespace blip::ring
