// SPDX-License-Identifier: MIT
#include "proc/files/private_pages.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mapping.h"
#include "proc/files/maps.h"

namespace blip::proc {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PrivatePages, only_pages_written_to_are_the_process_s_own) {
  const Fd self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  auto mapping = Mapping::create(8 * kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE, self.get(), 0);
  ASSERT_TRUE(mapping);
  const TargetAddr begin(reinterpret_cast<uint64_t>(mapping->data()));
  const AddrRange range{begin, begin + mapping->size()};
  volatile uint8_t* bytes = mapping->data();
  (void)bytes[0];  // loads a page of the file
  auto pages = private_pages(::getpid(), range);
  ASSERT_TRUE(pages) << pages.error().message();
  EXPECT_THAT(*pages, IsEmpty());
  bytes[2 * kPageSize + 5] = bytes[2 * kPageSize + 5];
  bytes[7 * kPageSize] = 1;
  pages = private_pages(::getpid(), range);
  ASSERT_TRUE(pages);
  EXPECT_THAT(*pages, ElementsAre(begin + 2 * kPageSize, begin + 7 * kPageSize));
}

TEST(PrivatePages, a_process_that_is_not_there) {
  auto pages = private_pages(4194303, {TargetAddr(0x1000), TargetAddr(0x2000)});
  ASSERT_FALSE(pages);
  EXPECT_EQ(pages.error().kind(), ErrorKind::kGone);
}

}  // namespace
}  // namespace blip::proc
