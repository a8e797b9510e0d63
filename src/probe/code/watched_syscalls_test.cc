// SPDX-License-Identifier: MIT
// Looks for these calls in the GNU C library of this machine, and in programs that have none.
#include "probe/code/watched_syscalls.h"

#include <gtest/gtest.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "jit/unmap_pad.h"

namespace blip::probe {
namespace {

// Returns the libraries of this process: its C library and its loader.
std::vector<Module> libraries() {
  std::vector<Module> found;
  const auto take = [](dl_phdr_info* info, size_t, void* to) {
    const std::string path = info->dlpi_name;
    const bool wanted = path.find("/libc.so") != std::string::npos || path.find("/ld-") != std::string::npos;
    auto module = wanted ? Module::of_file(path) : Error(ErrorKind::kNotFound, "");
    if (module) static_cast<std::vector<Module>*>(to)->push_back(*std::move(module));
    return 0;
  };
  ::dl_iterate_phdr(take, &found);
  return found;
}

class WatchedLibc : public testing::Test {
 protected:
  void SetUp() override {
    if (modules_.size() != 2) GTEST_SKIP() << "no libc.so and ld.so of its own";
  }
  std::vector<Module> modules_ = libraries();
};

TEST_F(WatchedLibc, all_that_take_memory_away_are_found) {
  const WatchedSyscalls calls = find_unmap_sites(modules_);
  EXPECT_EQ(calls.obstacle, "");
  std::set<uint32_t> numbers;
  for (const x86::SyscallSite& site : calls.sites) {
    numbers.insert(site.number);
    EXPECT_TRUE(site.flags_dead_after);
  }
  for (uint32_t number : {uint32_t{SYS_mmap}, uint32_t{SYS_munmap}, uint32_t{SYS_mprotect}, uint32_t{SYS_brk},
                          uint32_t{SYS_mremap}, uint32_t{SYS_madvise}, uint32_t{SYS_prctl}, jit::kAnyNumber})
    EXPECT_TRUE(numbers.contains(number)) << number;
}

TEST_F(WatchedLibc, filters_are_installed_by_two) {
  const WatchedSyscalls calls = find_filter_sites(modules_);
  EXPECT_EQ(calls.obstacle, "");
  std::set<uint32_t> numbers;
  for (const x86::SyscallSite& site : calls.sites) numbers.insert(site.number);
  EXPECT_EQ(numbers, (std::set<uint32_t>{SYS_prctl, jit::kAnyNumber}));
}

TEST_F(WatchedLibc, is_missed_where_there_is_none) {
  const auto is_libc = [](const Module& m) { return m.is_libc(); };
  modules_.erase(std::find_if(modules_.begin(), modules_.end(), is_libc));
  EXPECT_EQ(find_unmap_sites(modules_).obstacle, "the program does not use the GNU C library");
}

TEST_F(WatchedLibc, makes_calls_that_a_later_library_must_not) {
  for (const Module& module : modules_)
    EXPECT_EQ(syscalls_of_its_own(module), module.basename() + " makes system calls of its own");
  EXPECT_FALSE(mentions_filters(modules_));
}

}  // namespace
}  // namespace blip::probe
