// SPDX-License-Identifier: MIT
#include "base/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace blip {
namespace {

bool each_once(size_t count, size_t piece) {
  std::vector<std::atomic<int>> visits(count);
  parallel_pieces(count, piece, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) ++visits[i];
  });
  return std::all_of(visits.begin(), visits.end(), [](const auto& n) { return n == 1; });
}

TEST(Parallel, every_index_once_whatever_the_pieces) {
  for (size_t piece : {0, 1, 7, 64, 1000, 5000})
    for (size_t count : {0, 1, 63, 64, 65, 1000})
      EXPECT_TRUE(each_once(count, piece)) << count << " " << piece;
}

TEST(Parallel, tasks_run_once_each) {
  std::atomic<int> sum{0};
  parallel_run({[&] { sum += 1; }, [&] { sum += 10; }, [&] { sum += 100; }});
  EXPECT_EQ(sum, 111);
}

// In a child: the limit is the user's, and this program's other tests want threads.
TEST(Parallel, a_limit_on_threads_costs_only_speed) {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setresuid(kNobody, kNobody, kNobody) != 0) _exit(2);  // root has no limit
    const rlimit none{0, 0};
    _exit(::setrlimit(RLIMIT_NPROC, &none) == 0 && each_once(1000, 10) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace blip
