// SPDX-License-Identifier: MIT
#include "probe/code/module_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "elf/test_files.h"

namespace blip::probe {
namespace {

class ModuleFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    BLIP_SKIP_WITHOUT_TOOLS();
    directory_.write("a.c", "int f(void) { return 1; }\n");
    ASSERT_TRUE(directory_.run("cc -shared -fPIC -o a.so a.c && cp a.so b.so"));
  }

  std::shared_ptr<ModuleFile> open(const std::string& name) {
    const Fd fd(::open(directory_.path(name).c_str(), O_RDONLY | O_CLOEXEC));
    auto file = files_.open(fd, name, false, {});
    EXPECT_TRUE(file) << file.error().message();
    return file ? *file : nullptr;
  }

  elf::TestFiles directory_;
  ModuleFiles files_;
};

TEST_F(ModuleFilesTest, a_file_is_read_once) {
  const auto first = open("a.so");
  ASSERT_TRUE(first->symbols());
  EXPECT_EQ(open("a.so"), first);
  ASSERT_TRUE(directory_.run("ln -s a.so link.so"));
  EXPECT_EQ(open("link.so"), first);
  EXPECT_EQ(*open("a.so")->symbols(), *first->symbols());
}

TEST_F(ModuleFilesTest, another_file_is_another) { EXPECT_NE(open("a.so"), open("b.so")); }

TEST_F(ModuleFilesTest, a_file_that_was_replaced_or_written_to_is_another) {
  const auto first = open("a.so");
  ASSERT_TRUE(directory_.run("mv b.so a.so"));
  const auto second = open("a.so");
  EXPECT_NE(second, first);
  ASSERT_TRUE(directory_.run("echo >> a.so"));
  EXPECT_NE(open("a.so"), second);
}

TEST_F(ModuleFilesTest, what_cannot_be_read_is_an_error_each_time) {
  for (int i = 0; i < 2; ++i) {
    const Fd fd(::open(directory_.path("a.c").c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_FALSE(files_.open(fd, "a.c", false, {}));
  }
}

}  // namespace
}  // namespace blip::probe
