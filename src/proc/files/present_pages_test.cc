// SPDX-License-Identifier: MIT
#include "proc/files/present_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace blip::proc {
namespace {

class Mapped {
 public:
  explicit Mapped(uint64_t size) : size_(size) {
    at_ = static_cast<char*>(
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    ::madvise(at_, size, MADV_NOHUGEPAGE);
  }
  ~Mapped() { ::munmap(at_, size_); }

  AddrRange range() const {
    const TargetAddr begin(reinterpret_cast<uint64_t>(at_));
    return {begin, begin + size_};
  }
  void touch(uint64_t offset) { at_[offset] = 1; }

 private:
  char* at_;
  uint64_t size_;
};

TEST(PresentPages, are_found_in_terabytes_that_are_not_there) {
  Mapped shadow(uint64_t{1} << 40);
  shadow.touch(0);
  shadow.touch(4096);
  shadow.touch(uint64_t{700} << 30);
  const AddrRange mapping = shadow.range();
  const auto pages = present_pages(::getpid(), {&mapping, 1}, 1 << 20);
  ASSERT_TRUE(pages) << pages.error().message();
  if (!pages->complete) GTEST_SKIP() << "this kernel has no PAGEMAP_SCAN";
  EXPECT_EQ(pages->size, 3u * 4096);
  ASSERT_EQ(pages->runs.size(), 2u);
  EXPECT_EQ(pages->runs[0], (AddrRange{mapping.begin, mapping.begin + 8192}));
  EXPECT_EQ(pages->runs[1].begin, mapping.begin + (uint64_t{700} << 30));
}

TEST(PresentPages, more_than_asked_for_is_told) {
  Mapped memory(1 << 20);
  for (uint64_t at = 0; at < 1 << 20; at += 4096) memory.touch(at);
  const AddrRange mapping = memory.range();
  const auto pages = present_pages(::getpid(), {&mapping, 1}, 1 << 16);
  ASSERT_TRUE(pages);
  EXPECT_FALSE(pages->complete);
}

TEST(PresentPages, many_single_pages) {
  constexpr int kPages = 2000;  // more than one call tells
  Mapped memory(uint64_t{kPages} * 8192);
  for (int i = 0; i < kPages; ++i) memory.touch(uint64_t(i) * 8192);
  const AddrRange mapping = memory.range();
  const auto pages = present_pages(::getpid(), {&mapping, 1}, 1 << 30);
  ASSERT_TRUE(pages);
  EXPECT_EQ(pages->runs.size(), size_t{kPages});
}

}  // namespace
}  // namespace blip::proc
