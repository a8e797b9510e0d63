// SPDX-License-Identifier: MIT
#include "dwarf/lines/inlined_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace blip::dwarf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<uint8_t> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Marks its own address by a symbol, whatever it is inlined into.
constexpr char kSource[] = R"(extern int sink;
static inline __attribute__((always_inline)) void inner(int n) {
  asm volatile(".globl mark_in_%c0\nmark_in_%c0: nop" :: "i"(1));
  sink += n;
}
namespace scope {
static inline __attribute__((always_inline)) void middle(int n) {
  inner(n);
}
}
int sink;
__attribute__((noinline)) int outer(int n) {
  scope::middle(n);
  asm volatile(".globl mark_out\nmark_out: nop");
  return sink;
}
int main() { return outer(0); }
)";

class Inlined : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    char name[] = "/tmp/blip_inlined_XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    directory_ = name;
    std::ofstream(directory_ + "/a.cc") << kSource;
    const std::string command =
        "cd " + directory_ + " && " + GetParam() + " -o a a.cc 2> log && nm --defined-only a > names";
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << "not built: " << GetParam();
    image_ = read_file(directory_ + "/a");
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  FileAddr symbol(const std::string& wanted) const {
    std::ifstream in(directory_ + "/names");
    for (std::string address, kind, name; in >> address >> kind >> name;)
      if (name == wanted) return FileAddr(std::stoull(address, nullptr, 16));
    return {};
  }

  // "inner a.cc:3 inlined"
  std::vector<std::string> frames_at(const std::string& name) const {
    const auto info = InlinedFrames::open(image_);
    std::vector<std::string> texts;
    if (!info) return texts;
    for (const SourceFrame& frame : info->find(symbol(name)))
      texts.push_back(frame.function + " " + frame.file.substr(frame.file.rfind('/') + 1) + ":" +
                      std::to_string(frame.line) + (frame.is_inlined ? " inlined" : ""));
    return texts;
  }

  std::string directory_;
  std::vector<uint8_t> image_;
};

TEST_P(Inlined, functions_are_shown_from_the_inside_out) {
  EXPECT_THAT(frames_at("mark_in_1"),
              ElementsAre("inner a.cc:3 inlined", "scope::middle a.cc:8 inlined", "outer a.cc:13"));
  EXPECT_THAT(frames_at("mark_out"), ElementsAre("outer a.cc:14"));
  const auto info = InlinedFrames::open(image_);
  ASSERT_TRUE(info);
  const auto frames = info->find(symbol("mark_in_1"));
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[2].linkage_name, "_Z5outeri");
  EXPECT_THAT(info->find(FileAddr(0)), IsEmpty());
  EXPECT_THAT(info->find(FileAddr(UINT64_MAX)), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Compilers, Inlined,
                         testing::Values("g++ -O2 -g -gdwarf-4", "g++ -O2 -g -gz", "clang++-14 -O2 -g"));

TEST(InlinedFrames, no_debugging_information) {
  const std::vector<uint8_t> image = {1, 2, 3};
  EXPECT_EQ(InlinedFrames::open(image).error().kind(), ErrorKind::kNotFound);
}

}  // namespace
}  // namespace blip::dwarf
