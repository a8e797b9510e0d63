// SPDX-License-Identifier: MIT
#include "elf/go_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elf/test_image.h"

namespace blip::elf {
namespace {

using testing::ElementsAre;
using testing::FieldsAre;

constexpr uint64_t kText = 0x1000;
constexpr uint32_t kMagic[] = {0xfffffffa, 0xfffffff0, 0xfffffff1};

// Two functions, main.one of 16 bytes and main.two of 32.
template <typename Word>
std::vector<uint8_t> line_table(uint32_t magic, uint64_t text, uint64_t base) {
  const bool has_text = sizeof(Word) == 4;
  const std::string names("main.one\0main.two\0", 18);
  const uint64_t header = 8 + 8 * (has_text ? 8 : 7);
  const uint64_t functab = header + 24;
  std::vector<uint8_t> out;
  TestImage::put(out, magic);
  for (uint8_t b : {0, 0, 1, 8}) out.push_back(b);
  std::vector<uint64_t> words{2, 0};
  if (has_text) words.push_back(text);
  words.insert(words.end(), {header, 0, 0, 0, functab});
  for (uint64_t w : words) TestImage::put(out, w);
  out.insert(out.end(), names.begin(), names.end());
  out.resize(functab);
  const auto descriptions = static_cast<Word>(5 * sizeof(Word));
  for (Word w : {static_cast<Word>(base), descriptions, static_cast<Word>(base + 16),
                 static_cast<Word>(descriptions + sizeof(Word) + 4), static_cast<Word>(base + 48)})
    TestImage::put(out, w);
  for (uint32_t name : {0u, 9u}) {
    TestImage::put(out, static_cast<Word>(base));
    TestImage::put(out, name);
  }
  return out;
}

std::vector<uint8_t> image_with(const std::vector<uint8_t>& table, std::string_view section = ".gopclntab") {
  TestImage image;
  image.add_segment(PF_R | PF_X, kText, std::vector<uint8_t>(64, 0x90));
  image.add_section_at(".text", SHT_PROGBITS, SHF_EXECINSTR, kText, 64);
  image.add_section(section, SHT_PROGBITS, 0, 0, table);
  return image.finish();
}

std::vector<std::tuple<std::string, uint64_t, uint64_t>> read(const std::vector<uint8_t>& bytes) {
  auto file = ElfFile::from_bytes("test", bytes);
  if (!file) return {};
  std::vector<std::tuple<std::string, uint64_t, uint64_t>> found;
  for (const Function& f : go_functions(*file)) found.emplace_back(f.name, f.addr.value, f.size);
  return found;
}

const auto kBoth = ElementsAre(FieldsAre("main.one", kText, 16u), FieldsAre("main.two", kText + 16, 32u));

TEST(GoFunctions, of_all_versions) {
  EXPECT_THAT(read(image_with(line_table<uint64_t>(kMagic[0], 0, kText))), kBoth);
  EXPECT_THAT(read(image_with(line_table<uint32_t>(kMagic[1], kText, 0))), kBoth);
  EXPECT_THAT(read(image_with(line_table<uint32_t>(kMagic[2], kText, 0))), kBoth);
}

TEST(GoFunctions, position_independent_programs_leave_the_text_address_to_the_loader) {
  EXPECT_THAT(read(image_with(line_table<uint32_t>(kMagic[1], 0, 0), ".data.rel.ro.gopclntab")), kBoth);
}

TEST(GoFunctions, a_stripped_program_has_them_as_symbols) {
  const auto bytes = image_with(line_table<uint32_t>(kMagic[1], kText, 0));
  auto file = ElfFile::from_bytes("test", bytes);
  ASSERT_TRUE(file);
  auto symbols = SymbolTable::load(*file);
  ASSERT_TRUE(symbols);
  ASSERT_EQ(symbols->functions().size(), 2u);
  EXPECT_EQ(symbols->functions()[1].name, "main.two");
}

TEST(GoFunctions, unknown_and_foreign_tables_give_none) {
  EXPECT_TRUE(read(image_with(line_table<uint32_t>(0xfffffffb, kText, 0))).empty());
  EXPECT_TRUE(read(image_with({1, 2, 3})).empty());
  EXPECT_TRUE(read(image_with(line_table<uint32_t>(kMagic[1], kText, 0), ".other")).empty());
}

TEST(GoFunctions, every_cut_and_every_wild_word_is_survived) {
  const auto table = line_table<uint32_t>(kMagic[1], kText, 0);
  for (size_t size = 0; size < table.size(); ++size)
    EXPECT_LE(read(image_with({table.begin(), table.begin() + static_cast<ptrdiff_t>(size)})).size(), 2u);
  for (size_t at = 8; at + 4 <= table.size(); at += 4) {
    auto wild = table;
    const uint32_t value = 0xffffffff;
    std::memcpy(&wild[at], &value, sizeof value);
    (void)read(image_with(wild));
  }
}

}  // namespace
}  // namespace blip::elf
