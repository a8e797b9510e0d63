// SPDX-License-Identifier: MIT
#include "proc/files/protection_keys.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace blip::proc {
namespace {

TEST(ProtectionKeys, are_seen_on_any_memory) {
  EXPECT_FALSE(uses_protection_keys(::getpid()));
  const int key = ::pkey_alloc(0, 0);
  if (key < 0) GTEST_SKIP() << "no protection keys here";
  void* memory = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_EQ(::pkey_mprotect(memory, 4096, PROT_READ, key), 0);
  EXPECT_TRUE(uses_protection_keys(::getpid()));
  ::munmap(memory, 4096);
  ::pkey_free(key);
}

}  // namespace
}  // namespace blip::proc
