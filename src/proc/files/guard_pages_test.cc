// SPDX-License-Identifier: MIT
#include "proc/files/guard_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace blip::proc {
namespace {

constexpr uint64_t kPage = 4096;
constexpr int kGuardInstall = 102;

TEST(GuardPages, are_found_in_memory_that_looks_readable) {
  auto* memory = static_cast<uint8_t*>(
      ::mmap(nullptr, 8 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  const TargetAddr at(reinterpret_cast<uint64_t>(memory));
  const AddrRange mapping{at, at + 8 * kPage};
  memory[0] = memory[5 * kPage] = 1;
  const auto none = guard_pages(::getpid(), {&mapping, 1});
  ASSERT_TRUE(none.has_value());
  if (!none->has_value()) GTEST_SKIP() << "this kernel cannot tell";
  EXPECT_THAT(**none, testing::IsEmpty());
  if (::madvise(memory + 2 * kPage, 2 * kPage, kGuardInstall) != 0) GTEST_SKIP() << "this kernel has none";
  EXPECT_THAT(guard_pages(::getpid(), {&mapping, 1})->value(),
              testing::ElementsAre(AddrRange{at + 2 * kPage, at + 4 * kPage}));
  ::munmap(memory, 8 * kPage);
}

}  // namespace
}  // namespace blip::proc
