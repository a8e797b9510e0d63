// SPDX-License-Identifier: MIT
// Looking up names gives the same answer without an index, with one that was just made, and with a kept one.
#include "dwarf/kept_index.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "dwarf/test_compiled.h"
#include "script/types/type.h"

namespace blip::dwarf {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSource = R"(
namespace ns {
template <typename T> struct box { T value; static int made; struct inner { T deep; }; };
template <typename T> int box<T>::made = 3;
enum class color { red, green };
typedef unsigned long word;
namespace { int hidden = 5; }
struct node { int key; int twice() const; };
inline int node::twice() const { return key * 2 + hidden; }
__attribute__((always_inline)) inline int tiny(int n) { return n + 7; }
__attribute__((always_inline)) inline bool operator<(const node& a, const node& b) { return a.key < b.key; }
}
int counter = 1;
extern "C" __attribute__((noinline)) int outer(ns::node* n, int m) {
  static ns::box<int>::inner kept;
  ns::box<int> b{m};
  kept.deep += ns::tiny(m) + (*n < *n);
  ns::color c = m ? ns::color::red : ns::color::green;
  ns::word w = n->twice();
  return b.value + ns::box<int>::made + counter++ + kept.deep + (int)c + (int)w + ns::tiny(3);
}
)";

std::string describe(DebugInfo& info, FileAddr pc) {
  std::string text;
  for (const char* name : {"tiny", "twice", "operator<", "_ZN2ns4tinyEi", "none", "box", ""})
    for (const InlinedInstance& i : info.inlined_instances({name, [](std::string_view) { return true; }}))
      text += fmt::format("{}: {:x}+{} {} in {}\n", name, i.pc.value, i.size, i.function, i.caller);
  const auto scope = info.scope_at({.pc = pc, .is_entry = true});
  for (const char* name :
       {"counter", "ns::(anonymous namespace)::hidden", "ns::box<int>::made", "none", "tiny"})
    if (const auto found = scope->find(name)) text += fmt::format("{} {}\n", name, to_string(*found->type));
  for (const char* name : {"ns::node", "struct ns::node", "ns::color", "ns::word", "ns::box<int>",
                           "unsigned int", "ns::box<int>::inner", "none"})
    if (const auto* found = scope->find_type(name)) text += fmt::format("{} {}\n", name, found->size);
  if (scope->find_in("sample.cc", "counter")) text += "in the file\n";
  return text;
}

class KeptIndexFiles : public ::testing::Test {
 protected:
  KeptIndexFiles() {
    std::string path = (fs::temp_directory_path() / "kept_index_test.XXXXXX").string();
    if (::mkdtemp(path.data())) home_ = path;
  }
  ~KeptIndexFiles() override { fs::remove_all(home_); }

  // The answer, and how it was found.
  std::pair<std::string, std::string> look(const std::vector<uint8_t>& image, const FileCache* cache) {
    auto info = DebugInfo::open({.name = "sample.so",
                                 .program = image,
                                 .debug = {},
                                 .alternate = {},
                                 .may_open = {},
                                 .cache = {.files = cache, .least_size = 0}});
    if (!info) return {};
    std::string found = describe(*info, address_of(image, "outer"));
    return {found, info->index_note()};
  }

  fs::path home_;
};

class KeptIndexTest : public KeptIndexFiles, public ::testing::WithParamInterface<std::string> {};

TEST_P(KeptIndexTest, finds_what_is_found_without) {
  const auto& image = compiled(GetParam() + " -Wl,--build-id=sha1", kSource, "cc");
  ASSERT_FALSE(image.empty()) << "cannot be compiled";
  const FileCache cache(home_ / "blip");
  const auto [plain, none] = look(image, nullptr);
  EXPECT_NE(plain, "");
  if (GetParam().starts_with("g++ -O0")) {
    EXPECT_NE(plain.find("tiny: "), std::string::npos);
    EXPECT_NE(plain.find("ns::node 4"), std::string::npos);
  }
  EXPECT_EQ(none, "");
  EXPECT_EQ(look(image, &cache), std::pair(plain, std::string("an index of its names is in the cache now")));
  EXPECT_EQ(look(image, &cache), std::pair(plain, std::string("names are found by the index in the cache")));
  for (const auto& file : fs::directory_iterator(home_ / "blip"))
    fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_EQ(look(image, &cache), std::pair(plain, std::string("an index of its names is in the cache now")));
  EXPECT_EQ(look(image, &cache).second, "names are found by the index in the cache");
}

INSTANTIATE_TEST_SUITE_P(Compilers, KeptIndexTest, ::testing::ValuesIn([] {
                           auto commands = all_commands("g++", "clang++-14");
                           commands.emplace_back("g++ -O2 -flto");
                           commands.emplace_back("g++ -O2 -fdebug-types-section -gdwarf-5");
                           return commands;
                         }()));

TEST_F(KeptIndexFiles, files_without_a_build_id_have_none) {
  const auto& image = compiled("g++ -O2 -Wl,--build-id=none", kSource, "cc");
  ASSERT_FALSE(image.empty()) << "cannot be compiled";
  const FileCache cache(home_ / "blip");
  EXPECT_EQ(look(image, &cache).second, "");
  EXPECT_FALSE(fs::exists(home_ / "blip"));
}

TEST_F(KeptIndexFiles, without_a_directory_names_are_searched_for) {
  const auto& image = compiled("g++ -O2", kSource, "cc");
  ASSERT_FALSE(image.empty()) << "cannot be compiled";
  const FileCache cache(home_ / "not" / "there" / "blip");
  const auto [found, note] = look(image, &cache);
  EXPECT_EQ(found, look(image, nullptr).first);
  EXPECT_NE(note.find("no index of its names is kept: "), std::string::npos) << note;
}

// Two files of the same build-id, as somebody may make them: each is found in its own names.
TEST_F(KeptIndexFiles, another_file_of_the_same_build_id_has_another_index) {
  const std::string command = "g++ -O2 -Wl,--build-id=0x1122334455667788";
  const auto& one = compiled(command, kSource, "cc");
  const auto& other = compiled(command, "extern \"C\" int outer() { return 1; } int counter;", "cc");
  ASSERT_FALSE(one.empty() || other.empty()) << "cannot be compiled";
  const FileCache cache(home_ / "blip");
  (void)look(other, &cache);
  EXPECT_EQ(look(one, &cache).first, look(one, nullptr).first);
}

}  // namespace
}  // namespace blip::dwarf
