// SPDX-License-Identifier: MIT
// Calls that are found, while all threads stand still, to be made unseen.
#include "probe/watch_calls.h"

#include <gtest/gtest.h>

#include <thread>

#include "proc/test_child.h"
#include "proc/test_filter.h"

namespace blip::probe {
namespace {

using proc::test::Child;
using proc::test::nap;

// One of very many threads.
TEST(UnseenFilter, of_the_last_thread) {
  Child child([](Child& self) {
    for (int i = 0; i < 300; ++i) std::thread([] { nap(1'000'000); }).detach();
    std::thread([&self] {
      self.tell(proc::test::install_filter());
      nap(1'000'000);
    }).detach();
    nap(1'000'000);
  });
  ASSERT_EQ(child.hear(), 1);
  auto process = proc::Process::open(child.pid());
  ASSERT_TRUE(process) << process.error().message();
  auto attachment = proc::Attachment::stop_all(*process);
  ASSERT_TRUE(attachment) << attachment.error().message();
  EXPECT_TRUE(any_filtered(*attachment));
}

}  // namespace
}  // namespace blip::probe
