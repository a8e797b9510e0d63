// SPDX-License-Identifier: MIT
// Every reader ends in bounds (the sanitizers watch) and in reasonable time, whatever a file contains.
#include <gtest/gtest.h>

#include <random>

#include "elf/test_image.h"
#include "elf/test_read_everything.h"
#include "elf/test_self.h"

namespace blip::elf {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes contents(std::string_view which) {
  auto file = ElfFile::open(which == "ls" ? "/bin/ls" : loaded_library("/libm.so.6")).value();
  auto all = file.file_bytes(FileOffset(0), file.size());
  return {all.begin(), all.end()};
}

class HostileFile : public testing::TestWithParam<const char*> {};

TEST_P(HostileFile, cut_at_any_length) {
  Bytes image = contents(GetParam());
  std::mt19937 random(1);
  for (size_t size = 0; size < 256; ++size)
    read_everything({image.begin(), image.begin() + static_cast<long>(size)});
  for (int i = 0; i < 100; ++i) {
    auto size = static_cast<long>(random() % image.size());
    read_everything({image.begin(), image.begin() + size});
  }
}

TEST_P(HostileFile, random_bytes_anywhere) {
  const Bytes image = contents(GetParam());
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    Bytes copy = image;
    for (int j = 0; j < 2000; ++j) copy[random() % copy.size()] = static_cast<uint8_t>(random());
    std::memcpy(copy.data(), image.data(), sizeof(Elf64_Ehdr));
    read_everything(copy);
  }
}

// Extreme values in the headers, where they do the most harm.
TEST_P(HostileFile, extreme_numbers_in_the_headers) {
  const Bytes image = contents(GetParam());
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof(header));
  const uint64_t extremes[] = {
      0, 1, 0x7fffffffffffffff, UINT64_MAX, UINT64_MAX - 7, image.size(), image.size() - 1, 0xffffffff};
  std::mt19937 random(3);
  uint64_t section_table = uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
  uint64_t program_table = uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  for (int i = 0; i < 300; ++i) {
    Bytes copy = image;
    for (int j = 0; j < 3; ++j) {
      bool in_sections = random() % 2 == 0;
      uint64_t at = in_sections ? header.e_shoff + random() % section_table / 8 * 8
                                : sizeof(header) + random() % program_table / 8 * 8;
      std::memcpy(copy.data() + at, &extremes[random() % std::size(extremes)], 8);
    }
    read_everything(copy);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, HostileFile, testing::Values("ls", "libm"),
                         [](const auto& which) { return which.param; });

TEST(HostileImage, all_names_are_one_long_string) {
  TestImage image;
  image.add_segment(PF_R | PF_X, 0x1000, Bytes(64, 0x90));
  uint32_t names = image.add_section(".strtab", SHT_STRTAB, 0, 0, Bytes(1 << 20, 'x'));
  Bytes symbols;
  for (uint32_t i = 0; i < 20000; ++i)
    TestImage::put(symbols, Elf64_Sym{i, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x1000, 8});
  image.add_section(".symtab", SHT_SYMTAB, names, sizeof(Elf64_Sym), symbols);
  read_everything(image.finish());
}

TEST(HostileImage, many_symbols_at_one_address) {
  TestImage image;
  image.add_segment(PF_R | PF_X, 0x1000, Bytes(64, 0x90));
  for (int i = 0; i < 50000; ++i)
    image.add_symbol("name" + std::to_string(i), ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0x1000, i % 7);
  EXPECT_GT(read_everything(image.finish()), 50000u);
}

// All FDEs name one huge LSDA: reading it for each would take hours.
TEST(HostileImage, many_frames_share_one_huge_lsda) {
  Bytes frames = {20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'L', 'R', 0, 1, 0x78, 16, 2, 0, 0, 0, 0, 0, 0, 0};
  for (int i = 0; i < 20000; ++i) {
    TestImage::put(frames, uint32_t{29});
    TestImage::put(frames, static_cast<uint32_t>(frames.size()));
    for (uint64_t field : {uint64_t{0x1000}, uint64_t{8}}) TestImage::put(frames, field);
    frames.push_back(8);
    TestImage::put(frames, uint64_t{0x400000});
  }
  Bytes lsda = {0xff, 0xff, 0x01, 0xff, 0xff, 0xff, 0x7f};
  lsda.resize(1 << 20, 1);
  TestImage image;
  image.add_segment(PF_R | PF_X, 0x1000, Bytes(64, 0x90));
  image.add_segment(PF_R, 0x100000, frames);
  image.add_segment(PF_R, 0x400000, lsda);
  image.add_section_at(".text", SHT_PROGBITS, SHF_EXECINSTR, 0x1000, 64);
  image.add_section_at(".eh_frame", SHT_PROGBITS, 0, 0x100000, frames.size());
  auto file = ElfFile::from_bytes("hostile", image.finish()).value();
  EXPECT_EQ(frame_ranges(file).size(), 20000u);
  EXPECT_EQ(landing_pads(file), (std::vector<FileAddr>{FileAddr(0x1001)}));
}

}  // namespace
}  // namespace blip::elf
