// SPDX-License-Identifier: MIT
#include "proc/files/links.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc/files/maps.h"
#include "proc/files/pid_namespace.h"

namespace blip::proc {
namespace {

struct stat facts_of(const std::string& path) {
  struct stat facts {};
  EXPECT_EQ(::stat(path.c_str(), &facts), 0) << path;
  return facts;
}

TEST(Links, lead_to_the_files_of_the_process) {
  const struct stat program = facts_of(executable_link(::getpid()));
  const auto maps = read_maps(::getpid());
  ASSERT_TRUE(maps);
  const Map* code = find_map(*maps, TargetAddr(reinterpret_cast<uint64_t>(&facts_of)));
  ASSERT_TRUE(code);
  EXPECT_EQ(program.st_ino, code->inode);
  EXPECT_EQ(facts_of(root_link(::getpid()) + code->path).st_ino, code->inode);
  EXPECT_EQ(facts_of(root_link(::getpid())).st_ino, facts_of("/").st_ino);
  if (::geteuid() != 0) GTEST_SKIP() << "the links of mappings need a capability";
  EXPECT_EQ(facts_of(map_link(::getpid(), code->range)).st_ino, code->inode);
}

TEST(PidNamespaceOf, a_process_has_the_namespace_of_its_parent) {
  const auto own = pid_namespace(), parents = pid_namespace_of(::getppid());
  ASSERT_TRUE(own);
  ASSERT_TRUE(parents);
  EXPECT_EQ(own->inode, parents->inode);
  EXPECT_EQ(own->device, parents->device);
  EXPECT_FALSE(pid_namespace_of(999999999));
}

}  // namespace
}  // namespace blip::proc
