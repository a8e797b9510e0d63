// SPDX-License-Identifier: MIT
#include "elf/symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "elf/test_image.h"
#include "elf/test_self.h"

extern "C" {
[[gnu::noinline]] int blip_symbols_test_first(int x) noexcept { return x * 3 + 1; }
[[gnu::noinline, gnu::weak]] int blip_symbols_test_weak(int x) { return x * 5 + 2; }
[[gnu::alias("blip_symbols_test_first")]] int blip_symbols_test_alias(int x) noexcept;
[[gnu::used]] int blip_symbols_test_object = 7;
[[gnu::used]] thread_local int blip_symbols_test_thread_local = 8;
}
asm(R"(
  .pushsection .text
  .globl blip_symbols_test_assembly
  .type blip_symbols_test_assembly, @function
blip_symbols_test_assembly:
  nop
  nop
  ret
  .type blip_symbols_test_after, @function
blip_symbols_test_after:
  ret
  .size blip_symbols_test_after, 1
  .popsection
)");

namespace blip::elf {
namespace {

const SymbolTable& self_symbols() {
  static const SymbolTable table = SymbolTable::load(test_self()).value();
  return table;
}

const Function* find(const SymbolTable& table, std::string_view name) {
  for (const Function& function : table.functions())
    if (function.name == name) return &function;
  return nullptr;
}

bool in_order(const SymbolTable& table) {
  return std::is_sorted(table.functions().begin(), table.functions().end(),
                        [](const Function& a, const Function& b) {
                          return std::pair(a.addr, a.size) < std::pair(b.addr, b.size);
                        });
}

constexpr unsigned char kGlobalFunction = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);

SymbolTable load(TestImage& image, std::optional<ElfFile>& file) {
  image.add_segment(PF_R | PF_X, 0x1000, std::vector<uint8_t>(256, 0x90));
  image.add_segment(PF_R, 0x3000, std::vector<uint8_t>(64));
  image.add_section_at(".text", SHT_PROGBITS, SHF_EXECINSTR, 0x1000, 128);
  file.emplace(ElfFile::from_bytes("image", image.finish()).value());
  return SymbolTable::load(*file).value();
}

TEST(SymbolTable, functions_of_this_program_are_where_they_are) {
  const SymbolTable& table = self_symbols();
  EXPECT_TRUE(in_order(table));
  const Function* first = find(table, "blip_symbols_test_first");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->addr, file_addr(&blip_symbols_test_first));
  EXPECT_GT(first->size, 0u);
  EXPECT_FALSE(first->is_weak || first->is_ifunc || first->is_cold || first->size_guessed);
  const Function* weak = find(table, "blip_symbols_test_weak");
  ASSERT_NE(weak, nullptr);
  EXPECT_EQ(weak->addr, file_addr(&blip_symbols_test_weak));
  EXPECT_TRUE(weak->is_weak);
  const Function* alias = find(table, "blip_symbols_test_alias");
  ASSERT_NE(alias, nullptr);
  EXPECT_EQ(alias->addr, first->addr);
}

TEST(SymbolTable, assembly_without_a_size_reaches_to_the_next_symbol) {
  const Function* assembly = find(self_symbols(), "blip_symbols_test_assembly");
  ASSERT_NE(assembly, nullptr);
  EXPECT_TRUE(assembly->size_guessed);
  EXPECT_EQ(assembly->size, 3u);
}

TEST(SymbolTable, function_at_finds_the_containing_one) {
  const SymbolTable& table = self_symbols();
  FileAddr start = file_addr(&blip_symbols_test_weak);
  const Function* weak = table.function_at(start);
  ASSERT_NE(weak, nullptr);
  EXPECT_EQ(weak->addr, start);
  EXPECT_EQ(table.function_at(start + (weak->size - 1))->addr, start);
  EXPECT_EQ(table.function_at(FileAddr(1)), nullptr);
  EXPECT_EQ(table.function_at(FileAddr(UINT64_MAX)), nullptr);
}

TEST(SymbolTable, objects_by_name) {
  EXPECT_EQ(self_symbols().object("blip_symbols_test_object"), file_addr(&blip_symbols_test_object).value);
  EXPECT_TRUE(self_symbols().object("blip_symbols_test_thread_local").has_value());
  EXPECT_EQ(self_symbols().object("blip_symbols_test_first"), std::nullopt);  // a function
  EXPECT_EQ(self_symbols().object("blip_symbols_test_obj"), std::nullopt);
}

TEST(SymbolTable, the_c_library) {
  auto file = ElfFile::open(loaded_library("/libc.so.6"));
  ASSERT_TRUE(file.has_value()) << file.error().message();
  SymbolTable table = SymbolTable::load(*file).value();
  EXPECT_TRUE(in_order(table));
  const Function* malloc = find(table, "malloc");
  ASSERT_NE(malloc, nullptr);
  EXPECT_EQ(table.function_at(malloc->addr + 1)->addr, malloc->addr);
  const Function* memcpy = find(table, "memcpy");
  ASSERT_NE(memcpy, nullptr);
  EXPECT_TRUE(memcpy->is_ifunc);
  EXPECT_TRUE(table.object("_thread_db_pthread_tid").has_value());
  EXPECT_FALSE(table.object("no_such_object").has_value());
  for (const Function& function : table.functions()) {
    EXPECT_EQ(function.name.find('@'), std::string_view::npos) << function.name;
    EXPECT_TRUE(file->segment_at(function.addr)->exec) << function.name;
  }
}

TEST(SymbolTable, keeps_functions_in_executable_segments_once_each) {
  TestImage image;
  std::optional<ElfFile> file;
  image.add_symbol("b", kGlobalFunction, 0x1020, 8);
  image.add_symbol("a", kGlobalFunction, 0x1010, 8);
  image.add_symbol("a", kGlobalFunction, 0x1010, 8);
  image.add_symbol("a", kGlobalFunction, 0x1030, 8);
  image.add_symbol("b@@V1.0", kGlobalFunction, 0x1020, 8);
  image.add_symbol("alias", kGlobalFunction, 0x1010, 4);
  image.add_symbol("undefined", kGlobalFunction, 0x1010, 8, SHN_UNDEF);
  image.add_symbol("absolute", kGlobalFunction, 0x1010, 8, SHN_ABS);
  image.add_symbol("in_data", kGlobalFunction, 0x3000, 8);
  image.add_symbol("nowhere", kGlobalFunction, 0x9000, 8);
  image.add_symbol("", kGlobalFunction, 0x1040, 8);
  image.add_symbol("object", ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0x3008, 8);
  SymbolTable table = load(image, file);
  std::vector<std::string> names;
  for (const Function& function : table.functions()) names.emplace_back(function.name);
  EXPECT_THAT(names, testing::ElementsAre("alias", "a", "b", "a"));
  EXPECT_EQ(table.object("object"), 0x3008u);
}

TEST(SymbolTable, flags_and_guessed_sizes) {
  TestImage image;
  std::optional<ElfFile> file;
  image.add_symbol("f", kGlobalFunction, 0x1000, 16);
  image.add_symbol("f.cold", kGlobalFunction, 0x1010, 16);
  image.add_symbol("f.cold.12", kGlobalFunction, 0x1020, 16);
  image.add_symbol("f.colder", kGlobalFunction, 0x1030, 16);
  image.add_symbol("asm1", kGlobalFunction, 0x1040, 0);
  image.add_symbol("asm1_alias", kGlobalFunction, 0x1040, 0);
  image.add_symbol("label", ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), 0x1048, 0);
  image.add_symbol("asm2", kGlobalFunction, 0x1070, 0);  // to the end of .text
  image.add_symbol("asm3", kGlobalFunction, 0x10f0, 0);  // in no section: to the end of the segment
  image.add_symbol("huge", kGlobalFunction, 0x1050, UINT64_MAX);
  SymbolTable table = load(image, file);
  EXPECT_FALSE(find(table, "f")->is_cold);
  EXPECT_TRUE(find(table, "f.cold")->is_cold);
  EXPECT_TRUE(find(table, "f.cold.12")->is_cold);
  EXPECT_FALSE(find(table, "f.colder")->is_cold);
  EXPECT_EQ(find(table, "asm1")->size, 8u);
  EXPECT_EQ(find(table, "asm1_alias")->size, 8u);
  EXPECT_EQ(find(table, "asm2")->size, 16u);
  EXPECT_EQ(find(table, "asm3")->size, 16u);
  EXPECT_EQ(find(table, "huge")->range().end, FileAddr(0x1100));
  EXPECT_EQ(table.function_at(FileAddr(0x1060))->name, "huge");
  EXPECT_EQ(table.function_at(FileAddr(0x1071))->name, "asm2");
  EXPECT_EQ(table.function_at(FileAddr(0x1081))->name, "huge");
}

TEST(SymbolTable, none_is_empty_and_broken_is_an_error) {
  TestImage empty;
  std::optional<ElfFile> file;
  EXPECT_TRUE(load(empty, file).functions().empty());
  TestImage broken;
  broken.add_segment(PF_R | PF_X, 0x1000, std::vector<uint8_t>(16));
  broken.add_section(".symtab", SHT_SYMTAB, 999, sizeof(Elf64_Sym), std::vector<uint8_t>(48));
  auto image = ElfFile::from_bytes("image", broken.finish()).value();
  EXPECT_EQ(SymbolTable::load(image).error().kind(), ErrorKind::kInvalid);
}

TEST(WithoutVersion, strips_only_versions) {
  EXPECT_EQ(without_version("f@GLIBC_2.2.5"), "f");
  EXPECT_EQ(without_version("f@@GLIBC_2.2.5"), "f");
  EXPECT_EQ(without_version("f"), "f");
  EXPECT_EQ(without_version("@f"), "@f");
  EXPECT_EQ(without_version("main.(*T)@x/y"), "main.(*T)@x/y");
}

}  // namespace
}  // namespace blip::elf
