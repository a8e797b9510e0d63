// SPDX-License-Identifier: MIT
#include "elf/debug_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elf/debug_link.h"
#include "elf/mini_debug.h"
#include "elf/symbols.h"
#include "elf/test_files.h"

namespace blip::elf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class DebugFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    BLIP_SKIP_WITHOUT_TOOLS();
    files_.write("p.c",
                 "static __attribute__((noinline)) int hidden(int i) { return i * 3; }\n"
                 "int main(int c, char** v) { (void)v; return hidden(c); }\n");
    ASSERT_TRUE(
        files_.run("cc -O1 -g -Wl,--build-id=sha1 -o full p.c && mkdir bin && "
                   "objcopy --only-keep-debug full p.debug && "
                   "objcopy --strip-all --add-gnu-debuglink=p.debug full bin/p"));
  }

  ElfFile program(const std::string& name = "bin/p") const {
    return ElfFile::open(files_.path(name)).value();
  }
  std::string build_id() const { return program().build_id(); }
  // The files are looked for as if the directory were "/".
  DebugFiles find(const ElfFile& file, const std::string& path = "/bin/p") const {
    return find_debug_files(file, std::vector<SearchRoot>{{files_.directory(), path}});
  }
  void place(const std::string& directory, const std::string& name, const std::string& from = "p.debug") {
    ASSERT_TRUE(
        files_.run("mkdir -p '." + directory + "' && cp " + from + " '." + directory + "/" + name + "'"));
  }
  std::string by_build_id() const {
    return "/usr/lib/debug/.build-id/" + build_id().substr(0, 2) + "/" + build_id().substr(2) + ".debug";
  }
  void place_by_build_id(const std::string& from = "p.debug") {
    const std::string path = by_build_id();
    const size_t slash = path.rfind('/');
    place(path.substr(0, slash), path.substr(slash + 1), from);
  }

  TestFiles files_;
};

bool has(const ElfFile& file, std::span<const ElfFile> debug_files, std::string_view name) {
  const SymbolTable table = SymbolTable::load(file, debug_files).value();
  for (const Function& f : table.functions())
    if (f.name == name && f.size > 0) return true;
  return false;
}

TEST_F(DebugFilesTest, found_in_each_place) {
  const ElfFile file = program();
  EXPECT_FALSE(has(file, {}, "hidden"));
  EXPECT_THAT(find(file).files, IsEmpty());
  for (const char* directory : {"/bin", "/bin/.debug", "/usr/lib/debug/bin"}) {
    place(directory, "p.debug");
    const DebugFiles found = find(file);
    ASSERT_EQ(found.files.size(), 1u) << directory;
    EXPECT_THAT(found.files[0].path(), testing::EndsWith(std::string(directory) + "/p.debug"));
    EXPECT_TRUE(has(file, found.files, "hidden"));
    ASSERT_TRUE(files_.run("rm ." + std::string(directory) + "/p.debug"));
  }
  place_by_build_id();
  EXPECT_EQ(find(file).files.size(), 1u);
  EXPECT_EQ(find(file, "").files.size(), 1u);
}

TEST_F(DebugFilesTest, symbols_lie_where_they_lay) {
  place("/bin", "p.debug");
  const ElfFile file = program(), full = program("full");
  const DebugFiles found = find(file);
  const SymbolTable merged = SymbolTable::load(file, found.files).value();
  const SymbolTable original = SymbolTable::load(full).value();
  ASSERT_EQ(merged.functions().size(), original.functions().size());
  for (size_t i = 0; i < merged.functions().size(); ++i) {
    EXPECT_EQ(merged.functions()[i].name, original.functions()[i].name);
    EXPECT_EQ(merged.functions()[i].range(), original.functions()[i].range()) << merged.functions()[i].name;
  }
}

TEST_F(DebugFilesTest, a_program_with_its_symbols_needs_none) {
  place_by_build_id();
  EXPECT_THAT(find(program("full")).files, IsEmpty());
}

TEST_F(DebugFilesTest, another_build_is_ignored_with_a_note) {
  ASSERT_TRUE(files_.run("cc -O0 -g -Wl,--build-id=sha1 -o other p.c"));
  place("/bin", "p.debug", "other");
  place_by_build_id("other");
  const DebugFiles found = find(program());
  EXPECT_THAT(found.files, IsEmpty());
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("build-id"), HasSubstr("build-id")));
}

TEST_F(DebugFilesTest, a_changed_file_does_not_have_the_crc) {
  ASSERT_TRUE(files_.run("cp p.debug changed && echo >> changed"));
  place("/bin", "p.debug", "changed");
  const DebugFiles found = find(program());
  EXPECT_THAT(found.files, IsEmpty());
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("CRC")));
}

TEST_F(DebugFilesTest, by_name_alone_where_there_is_no_build_id) {
  ASSERT_TRUE(
      files_.run("cc -O1 -g -Wl,--build-id=none -o full p.c && objcopy --only-keep-debug full p.debug && "
                 "objcopy --strip-all --add-gnu-debuglink=p.debug full bin/p"));
  place("/bin", "p.debug");
  EXPECT_EQ(program().build_id(), "");
  EXPECT_EQ(find(program()).files.size(), 1u);
}

TEST_F(DebugFilesTest, what_is_no_program_is_ignored_with_a_note) {
  ASSERT_TRUE(files_.run("echo nonsense > bad && mkfifo bin/p.debug"));
  place_by_build_id("bad");
  const DebugFiles found = find(program());
  EXPECT_THAT(found.files, IsEmpty());
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("not an ELF"), HasSubstr("not a regular file")));
}

TEST_F(DebugFilesTest, links_stay_inside_of_the_root) {
  place("/usr/lib/debug", "real");
  ASSERT_TRUE(files_.run("ln -s /usr/lib/debug/real bin/p.debug"));
  EXPECT_EQ(find(program()).files.size(), 1u);
  ASSERT_TRUE(files_.run("rm bin/p.debug && ln -s '" + files_.path("p.debug") + "' bin/p.debug"));
  EXPECT_THAT(find(program()).files, IsEmpty());  // there is no such path below the root
}

TEST_F(DebugFilesTest, packed_inside) {
  ASSERT_TRUE(
      files_.run("objcopy --strip-debug p.debug mini && xz -k mini && "
                 "objcopy --strip-all --add-section .gnu_debugdata=mini.xz full bin/p"));
  const ElfFile file = program();
  const DebugFiles found = find(file);
  ASSERT_EQ(found.files.size(), 1u);
  EXPECT_THAT(found.notes, IsEmpty());
  EXPECT_TRUE(has(file, found.files, "hidden"));
}

TEST_F(DebugFilesTest, broken_packing_is_a_note) {
  ASSERT_TRUE(
      files_.run("objcopy --strip-debug p.debug mini && xz -k mini && head -c 200 mini.xz > cut && "
                 "objcopy --strip-all --add-section .gnu_debugdata=cut full bin/p"));
  const DebugFiles found = find(program());
  EXPECT_THAT(found.files, IsEmpty());
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr(".gnu_debugdata")));
}

TEST_F(DebugFilesTest, a_bomb_is_not_unpacked) {
  ASSERT_TRUE(
      files_.run("head -c 300000000 /dev/zero | xz -1 > bomb && "
                 "objcopy --strip-all --add-section .gnu_debugdata=bomb full bin/p"));
  auto inner = mini_debug_file(program());
  ASSERT_FALSE(inner.has_value());
  EXPECT_THAT(inner.error().message(), HasSubstr("256 MiB"));
}

TEST_F(DebugFilesTest, debug_link_as_objcopy_writes_it) {
  const ElfFile file = program();
  const auto link = debug_link(file);
  ASSERT_TRUE(link.has_value());
  EXPECT_EQ(link->name, "p.debug");
  EXPECT_EQ(link->crc, file_crc(program("p.debug")));
  EXPECT_EQ(debug_link(program("full")), std::nullopt);
}

TEST_F(DebugFilesTest, a_link_out_of_the_directory_is_none) {
  ASSERT_TRUE(
      files_.run("printf '../p.debug\\0\\0aaaa' > link && "
                 "objcopy --strip-all --add-section .gnu_debuglink=link full bin/p"));
  EXPECT_EQ(debug_link(program()), std::nullopt);
}

}  // namespace
}  // namespace blip::elf
