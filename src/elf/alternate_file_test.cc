// SPDX-License-Identifier: MIT
#include "elf/alternate_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elf/test_files.h"

namespace blip::elf {
namespace {

using testing::HasSubstr;

// p names `common`, by the build-id 0102...: which files have is up to each test.
class AlternateFileTest : public testing::Test {
 protected:
  void SetUp() override {
    BLIP_SKIP_WITHOUT_TOOLS();
    files_.write("p.c", "int main(void) { return 0; }\n");
    ASSERT_TRUE(
        files_.run("cc -Wl,--build-id=0x0102030405060708 -o common p.c && cc -Wl,--build-id=0xffff -o other "
                   "p.c && mkdir bin"));
  }
  // printf's escapes.
  ElfFile program(const std::string& link) const {
    EXPECT_TRUE(files_.run("printf '" + link +
                           "' > link && objcopy --add-section .gnu_debugaltlink=link other bin/p"));
    return ElfFile::open(files_.path("bin/p")).value();
  }
  AlternateFile find(const std::string& path) const {
    const std::vector<SearchRoot> roots{{files_.directory(), "/bin/p"}};
    return find_alternate_file(program(path + kId), true, roots);
  }

  static constexpr const char* kId = "\\0\\1\\2\\3\\4\\5\\6\\7\\10";
  TestFiles files_;
};

TEST_F(AlternateFileTest, by_its_path) {
  for (const char* path : {"/common", "../common"}) {
    const AlternateFile found = find(path);
    ASSERT_TRUE(found.file) << found.missing;
    EXPECT_EQ(found.file->build_id(), "0102030405060708");
  }
}

TEST_F(AlternateFileTest, by_its_build_id) {
  ASSERT_TRUE(files_.run("d=usr/lib/debug/.build-id/01 && mkdir -p $d && mv common $d/02030405060708.debug"));
  EXPECT_TRUE(find("/gone").file);
}

TEST_F(AlternateFileTest, not_there_or_of_another_build) {
  EXPECT_FALSE(find("/gone").file);
  EXPECT_THAT(find("/gone").missing, HasSubstr("/gone (build-id 0102030405060708), which is not there"));
  EXPECT_FALSE(find("/other").file);
  EXPECT_THAT(find("/other").missing, HasSubstr("it is of another build"));
}

// A target must not lead blip out of its root, nor make it wait.
TEST_F(AlternateFileTest, links_stay_in_the_root) {
  ASSERT_TRUE(files_.run("ln -s ../../../../../../../../etc/passwd out && mkfifo pipe"));
  EXPECT_FALSE(find("/out").file);
  EXPECT_FALSE(find("/pipe").file);
}

TEST_F(AlternateFileTest, what_is_malformed_is_no_link) {
  for (const char* link : {"", "path", "path\\0", "\\0\\1\\2", "\\0"})
    EXPECT_FALSE(alternate_link(program(link))) << link;
  EXPECT_TRUE(alternate_link(program("path\\0\\1")));
  EXPECT_FALSE(find_alternate_file(ElfFile::open(files_.path("other")).value(), true, {}).file);
}

}  // namespace
}  // namespace blip::elf
