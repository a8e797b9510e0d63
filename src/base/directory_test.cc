// SPDX-License-Identifier: MIT
// A directory that cannot be read to its end is an error. That needs a kernel that fails: kill_sweep.t tests
// it ("directories").
#include "base/directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/fd.h"

namespace blip {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(Directory, all_names_but_the_two_that_every_one_has) {
  char path[] = "/tmp/directory_test.XXXXXX";
  ASSERT_NE(::mkdtemp(path), nullptr);
  const Fd here(::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_THAT(*list_directory(".", here.get()), IsEmpty());
  for (const char* name : {"a", "..b", ".c"}) ASSERT_EQ(::mkdirat(here.get(), name, 0700), 0);
  EXPECT_THAT(*list_directory(path), UnorderedElementsAre("a", "..b", ".c"));
  EXPECT_THAT(*list_directory(".", here.get()), UnorderedElementsAre("a", "..b", ".c"));
  for (const char* name : {"a", "..b", ".c"}) ::unlinkat(here.get(), name, AT_REMOVEDIR);
  ::rmdir(path);
}

TEST(Directory, of_several_thousand_entries_too) {
  char path[] = "/tmp/directory_test.XXXXXX";
  ASSERT_NE(::mkdtemp(path), nullptr);
  const Fd here(::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  constexpr size_t kMany = 3000;  // several times what one getdents64 gives
  for (size_t i = 0; i < kMany; ++i) ASSERT_EQ(::mkdirat(here.get(), std::to_string(i).c_str(), 0700), 0);
  const auto names = list_directory(path);
  ASSERT_TRUE(names);
  EXPECT_EQ(names->size(), kMany);
  for (const std::string& name : *names) ::unlinkat(here.get(), name.c_str(), AT_REMOVEDIR);
  ::rmdir(path);
}

TEST(Directory, what_is_none_is_named) {
  const auto absent = list_directory("/proc/none");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().errno_value(), ENOENT);
  EXPECT_EQ(absent.error().message(), "cannot open /proc/none: No such file or directory");
  EXPECT_EQ(list_directory("/proc/version").error().errno_value(), ENOTDIR);
}

}  // namespace
}  // namespace blip
