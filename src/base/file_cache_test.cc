// SPDX-License-Identifier: MIT
#include "base/file_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace blip {
namespace {

namespace fs = std::filesystem;

using Bytes = std::vector<uint8_t>;

class FileCacheTest : public ::testing::Test {
 protected:
  FileCacheTest() {
    std::string path = (fs::temp_directory_path() / "file_cache_test.XXXXXX").string();
    if (::mkdtemp(path.data())) home_ = path;
  }
  ~FileCacheTest() override { fs::remove_all(home_); }

  FileCache open() const { return FileCache(home_ / "blip"); }
  fs::path file(const char* name) const { return home_ / "blip" / name; }
  Bytes raw(const char* name) const {
    std::ifstream in(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put_raw(const char* name, const Bytes& bytes) const {
    std::ofstream out(file(name), std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

  fs::path home_;
  const Bytes bytes_ = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
};

TEST_F(FileCacheTest, what_was_kept_is_found_by_name_and_version) {
  const FileCache cache = open();
  EXPECT_FALSE(cache.find("a", 1));
  ASSERT_TRUE(cache.keep("a", 1, bytes_));
  EXPECT_EQ(cache.find("a", 1), bytes_);
  EXPECT_EQ(open().find("a", 1), bytes_);
  EXPECT_FALSE(cache.find("a", 2));
  EXPECT_FALSE(cache.find("b", 1));
  fs::rename(file("a"), file("b"));
  EXPECT_FALSE(cache.find("b", 1));  // it is of another name
  ASSERT_TRUE(cache.keep("b", 1, Bytes{}));
  EXPECT_EQ(cache.find("b", 1), Bytes{});
}

TEST_F(FileCacheTest, nobody_else_can_read_or_write_it) {
  ASSERT_TRUE(open().keep("a", 1, bytes_));
  struct stat about {};
  ASSERT_EQ(::stat((home_ / "blip").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat(file("a").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
}

TEST_F(FileCacheTest, torn_and_flipped_files_are_nothing) {
  const FileCache cache = open();
  ASSERT_TRUE(cache.keep("a", 1, bytes_));
  const Bytes whole = raw("a");
  for (size_t size = 0; size < whole.size(); ++size) {
    put_raw("a", Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)));
    EXPECT_FALSE(cache.find("a", 1)) << size;
  }
  for (size_t i = 0; i < whole.size(); ++i) {
    Bytes other = whole;
    other[i] ^= 0x10;
    put_raw("a", other);
    EXPECT_FALSE(cache.find("a", 1)) << i;
  }
  put_raw("a", whole);
  EXPECT_EQ(cache.find("a", 1), bytes_);
}

TEST_F(FileCacheTest, links_pipes_and_what_others_may_write_are_nothing) {
  const FileCache cache = open();
  ASSERT_TRUE(cache.keep("a", 1, bytes_));
  ASSERT_EQ(::chmod(file("a").c_str(), 0620), 0);
  EXPECT_FALSE(cache.find("a", 1));
  ASSERT_EQ(::chmod(file("a").c_str(), 0600), 0);
  fs::create_directory(home_ / "elsewhere");
  fs::rename(file("a"), home_ / "elsewhere" / "a");
  fs::create_symlink(home_ / "elsewhere" / "a", file("a"));
  EXPECT_FALSE(cache.find("a", 1));
  fs::remove(file("a"));
  ASSERT_EQ(::mkfifo(file("a").c_str(), 0600), 0);
  EXPECT_FALSE(cache.find("a", 1));
  ASSERT_TRUE(cache.keep("a", 1, bytes_));  // takes its place
  EXPECT_EQ(cache.find("a", 1), bytes_);
}

TEST_F(FileCacheTest, directories_that_are_links_or_others_are_not_used) {
  fs::create_directory(home_ / "elsewhere");
  fs::create_symlink(home_ / "elsewhere", home_ / "blip");
  EXPECT_FALSE(FileCache(home_ / "blip").prepare());
  EXPECT_FALSE(FileCache(home_ / "not" / "at" / "all").prepare());
  ASSERT_EQ(::chmod((home_ / "elsewhere").c_str(), 0777), 0);
  EXPECT_FALSE(FileCache(home_ / "elsewhere").prepare());
  EXPECT_FALSE(FileCache(home_ / "elsewhere" / "blip").prepare());
  EXPECT_TRUE(fs::is_empty(home_ / "elsewhere"));
}

TEST_F(FileCacheTest, files_of_another_user_are_nothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const FileCache cache = open();
  ASSERT_TRUE(cache.keep("a", 1, bytes_));
  ASSERT_EQ(::chown(file("a").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(cache.find("a", 1));
  ASSERT_EQ(::chown((home_ / "blip").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(FileCache(home_ / "blip").prepare());
}

TEST_F(FileCacheTest, what_was_not_used_for_longest_goes) {
  const FileCache cache = open();
  const char* names[] = {"b", "a", "c"};
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(cache.keep(names[i], 1, bytes_));
    const timespec times[2] = {{1000 + i, 0}, {1000 + i, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, file(names[i]).c_str(), times, 0), 0);
  }
  EXPECT_TRUE(cache.find("b", 1));  // the oldest, but now it was used
  ASSERT_TRUE(cache.shrink_to(2 * raw("a").size()));
  EXPECT_TRUE(cache.find("b", 1));
  EXPECT_FALSE(cache.find("a", 1));
  EXPECT_TRUE(cache.find("c", 1));
}

TEST_F(FileCacheTest, the_environment_says_where) {
  const std::string home = home_.string();
  ::setenv("HOME", home.c_str(), 1);
  ::unsetenv("XDG_CACHE_HOME");
  ASSERT_TRUE(FileCache::of_user()->prepare());
  EXPECT_TRUE(fs::is_directory(home_ / ".cache" / "blip"));
  ::setenv("XDG_CACHE_HOME", home.c_str(), 1);
  EXPECT_FALSE(FileCache::of_user()->find("a", 1));
  EXPECT_FALSE(fs::exists(home_ / "blip"));  // nothing is made to look
  ASSERT_TRUE(FileCache::of_user()->keep("a", 1, bytes_));
  EXPECT_TRUE(fs::is_directory(home_ / "blip"));
  ::setenv("BLIP_CACHE", "off", 1);
  EXPECT_FALSE(FileCache::of_user());
  ::unsetenv("BLIP_CACHE");
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  EXPECT_FALSE(FileCache::of_user());
}

}  // namespace
}  // namespace blip
