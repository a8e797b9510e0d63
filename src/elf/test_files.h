// SPDX-License-Identifier: MIT
// Real files for tests, made by the compiler and binutils of this machine.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace blip::elf {

// A directory of its own that goes away with the test.
class TestFiles {
 public:
  TestFiles() {
    std::string name = (std::filesystem::temp_directory_path() / "blip_test.XXXXXX").string();
    directory_ = ::mkdtemp(name.data()) ? name : "";
  }
  ~TestFiles() { std::filesystem::remove_all(directory_); }
  TestFiles(const TestFiles&) = delete;
  TestFiles& operator=(const TestFiles&) = delete;

  const std::string& directory() const { return directory_; }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }

  // A command of sh, in the directory.
  [[nodiscard]] bool run(const std::string& command) const {
    const std::string line = "cd '" + directory_ + "' && { " + command + "; } >output.txt 2>&1";
    return std::system(line.c_str()) == 0;
  }

 private:
  std::string directory_;
};

inline bool has_tools() { return std::system("command -v cc objcopy strip xz >/dev/null 2>&1") == 0; }

}  // namespace blip::elf

// The compiler is needed to build blip, but not where its tests are run.
#define BLIP_SKIP_WITHOUT_TOOLS() \
  if (!blip::elf::has_tools()) GTEST_SKIP() << "cc, objcopy, strip or xz is not installed"
