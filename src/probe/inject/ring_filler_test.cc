// SPDX-License-Identifier: MIT
#include "probe/inject/ring_filler.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mapping.h"
#include "ring/format.h"

namespace blip::probe {
namespace {

constexpr abi::Geometry kGeometry = {
    .ring_count = 2, .class_count = 4, .subbuf_count = 4, .subbuf_size = 1 << 20};
constexpr ring::FirstRoom kRoom{512 << 10, 1 << 20};

// A region that is its own target's.
class RingFillerTest : public testing::Test {
 protected:
  void SetUp() override {
    fd_.reset(::memfd_create("ring-filler-test", MFD_CLOEXEC));
    ASSERT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(kGeometry.region_size())), 0);
    auto mapping = Mapping::create(kGeometry.region_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    ASSERT_TRUE(mapping);
    region_ = *std::move(mapping);
    ring::format_region(kGeometry, region_.data(), reinterpret_cast<uint64_t>(region_.data()));
    for (unsigned i = 0; i < kGeometry.ring_count; ++i) ring::start_with(kRoom, kGeometry, 1, control(i));
  }

  abi::RingControl& control(unsigned ring) const {
    return reinterpret_cast<abi::RingControl*>(region_.data() + abi::kRingControlsOffset)[ring];
  }
  RegionView view(int fd) const {
    return {
        .fd = fd, .here = region_.data(), .there = TargetAddr(reinterpret_cast<uint64_t>(region_.data()))};
  }
  uint64_t allocated() const {
    struct stat st {};
    EXPECT_EQ(::fstat(fd_.get(), &st), 0);
    return static_cast<uint64_t>(st.st_blocks) * 512;
  }

  Fd fd_;
  Mapping region_;
};

TEST_F(RingFillerTest, gives_every_ring_all_of_its_memory) {
  const auto memory = proc::Memory::open(::getpid());
  ASSERT_TRUE(memory);
  RingFiller filler(kGeometry, kRoom, {0, 1}, view(fd_.get()), *memory);
  while (!filler.complete() && !filler.error()) ::usleep(1000);
  EXPECT_FALSE(filler.error());
  for (unsigned i = 0; i < kGeometry.ring_count; ++i) EXPECT_EQ(control(i).consumed, 0u);
  // All but the first room, which was there before.
  EXPECT_GE(allocated(), kGeometry.ring_count * (kGeometry.ring_size() - (kRoom.end - kRoom.start)));
}

TEST_F(RingFillerTest, tells_that_the_memory_cannot_be_had) {
  const auto memory = proc::Memory::open(::getpid());
  ASSERT_TRUE(memory);
  RingFiller filler(kGeometry, kRoom, {0, 1}, view(-1), *memory);
  while (!filler.complete() && !filler.error()) ::usleep(1000);
  ASSERT_TRUE(filler.error());
  EXPECT_NE(filler.error()->message().find("KiB of buffers"), std::string::npos);
  EXPECT_FALSE(filler.complete());
  EXPECT_EQ(control(0).consumed, kRoom.end - kGeometry.ring_size()) << "no writer was led there";
}

TEST_F(RingFillerTest, can_be_stopped_at_any_time) {
  const auto memory = proc::Memory::open(::getpid());
  ASSERT_TRUE(memory);
  for (int i = 0; i < 20; ++i) {
    RingFiller filler(kGeometry, kRoom, {0, 1}, view(fd_.get()), *memory);
    ::usleep(static_cast<useconds_t>(i) * 100);
    filler.stop();
  }
}

long faults_so_far() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

// In the process whose page tables blip has filled from outside.
TEST_F(RingFillerTest, writes_to_pages_that_were_faulted_in_do_not_fault) {
  constexpr uint64_t kSize = 4 << 20;
  constexpr long kPages = kSize / abi::kPageSize;
  ASSERT_TRUE(allocate(fd_.get(), 0, kSize));
  int go[2], told[2];
  ASSERT_EQ(::pipe(go), 0);
  ASSERT_EQ(::pipe(told), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    char byte;
    auto* pages = static_cast<volatile uint8_t*>(
        ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0));
    (void)!::write(told[1], &pages, sizeof pages);
    (void)!::read(go[0], &byte, 1);
    const long before = faults_so_far();
    for (uint64_t at = 0; at < kSize; at += abi::kPageSize) pages[at] = 1;
    const long faults = faults_so_far() - before;
    (void)!::write(told[1], &faults, sizeof faults);
    ::_exit(0);
  }
  uint64_t address = 0;
  ASSERT_EQ(::read(told[0], &address, sizeof address), static_cast<ssize_t>(sizeof address));
  const auto memory = proc::Memory::open(pid);
  ASSERT_TRUE(memory) << memory.error().message();
  fault_in(*memory, {TargetAddr(address), TargetAddr(address + kSize)});
  ASSERT_EQ(::write(go[1], "", 1), 1);
  long faults = kPages;
  ASSERT_EQ(::read(told[0], &faults, sizeof faults), static_cast<ssize_t>(sizeof faults));
  ::waitpid(pid, nullptr, 0);
  for (const int fd : {go[0], go[1], told[0], told[1]}) ::close(fd);
  EXPECT_LT(faults, kPages / 16);
}

}  // namespace
}  // namespace blip::probe
