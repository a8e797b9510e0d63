// SPDX-License-Identifier: MIT
#include "session/symbolize/trusted_path.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace blip::session {
namespace {

namespace fs = std::filesystem;

class TrustedPath : public testing::Test {
 protected:
  TrustedPath() {
    std::string name = fs::canonical(fs::temp_directory_path()) / "trusted.XXXXXX";
    directory_ = ::mkdtemp(name.data());
    std::ofstream(directory_ / "file") << "bytes";
    ::chmod((directory_ / "file").c_str(), 0644);
  }
  ~TrustedPath() override { fs::remove_all(directory_); }
  std::string path(const char* name) const { return directory_ / name; }

  fs::path directory_;
};

TEST_F(TrustedPath, a_regular_file_of_ours) {
  EXPECT_TRUE(is_ours_alone(path("file")));
  EXPECT_TRUE(is_ours_alone(path("./file")));
  EXPECT_FALSE(is_ours_alone("file"));
  EXPECT_FALSE(is_ours_alone(""));
  EXPECT_FALSE(is_ours_alone(path("absent")));
  EXPECT_FALSE(is_ours_alone(directory_));
  EXPECT_FALSE(is_ours_alone("/dev/null"));
}

TEST_F(TrustedPath, what_others_may_change) {
  ::chmod(path("file").c_str(), 0666);
  EXPECT_FALSE(is_ours_alone(path("file")));
  ::chmod(path("file").c_str(), 0644);
  ::chmod(directory_.c_str(), 0777);
  EXPECT_FALSE(is_ours_alone(path("file")));
  ::chmod(directory_.c_str(), 01777);
  EXPECT_TRUE(is_ours_alone(path("file")));
}

TEST_F(TrustedPath, links_and_pipes) {
  fs::create_symlink(path("file"), path("link"));
  EXPECT_FALSE(is_ours_alone(path("link")));
  fs::create_directory_symlink(directory_, path("here"));
  EXPECT_FALSE(is_ours_alone(path("here") + "/file"));
  EXPECT_FALSE(is_ours_alone(path("../") + directory_.filename().string() + "/file"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(is_ours_alone(path("pipe")));
}

}  // namespace
}  // namespace blip::session
