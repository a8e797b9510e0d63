// SPDX-License-Identifier: MIT
// code_pointers(), jump_table_targets() and rseq_sections(): the addresses of code that other parts of a file
// know.
#include <gtest/gtest.h>

#include <algorithm>

#include "elf/code_pointers.h"
#include "elf/jump_tables.h"
#include "elf/rseq_sections.h"
#include "elf/symbols.h"
#include "elf/test_image.h"
#include "elf/test_self.h"

namespace blip::elf {
namespace {

using Addresses = std::vector<FileAddr>;
constexpr uint64_t kCode = 0x1000, kRodata = 0x3000, kData = 0x5000;

[[gnu::noinline]] int pointed_to(int x) { return x ^ 0x55; }
int (*volatile g_pointer)(int) = pointed_to;
int (*const g_constant_table[])(int) = {pointed_to, nullptr};

bool has(const Addresses& addresses, FileAddr address) {
  return std::binary_search(addresses.begin(), addresses.end(), address);
}

template <typename... T>
std::vector<uint8_t> bytes_of(const T&... values) {
  std::vector<uint8_t> out;
  (TestImage::put(out, values), ...);
  return out;
}

TestImage with_code(uint16_t type, std::vector<uint8_t> code = {}) {
  TestImage image(type);
  code.resize(256, 0x90);
  image.add_segment(PF_R | PF_X, kCode, code);
  image.add_section_at(".text", SHT_PROGBITS, SHF_EXECINSTR, kCode, 256);
  return image;
}

ElfFile finish(TestImage& image) { return ElfFile::from_bytes("image", image.finish()).value(); }

Elf64_Rela rela(uint64_t place, uint32_t type, int64_t addend, uint32_t symbol = 0) {
  return {place, ELF64_R_INFO(uint64_t{symbol}, type), addend};
}

void add_rela(TestImage& image, const std::vector<uint8_t>& table, uint32_t link = 0) {
  image.add_section(".rela.dyn", SHT_RELA, link, sizeof(Elf64_Rela), table);
  image.sections().back().sh_flags = SHF_ALLOC;
}

TEST(CodePointers, of_this_program) {
  EXPECT_EQ(g_pointer(0), g_constant_table[0](0));
  Addresses found = code_pointers(test_self());
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
  EXPECT_TRUE(has(found, file_addr(g_pointer)));
  EXPECT_TRUE(has(found, test_self().entry()));
  for (FileAddr address : found) EXPECT_TRUE(test_self().is_code(address));
}

TEST(CodePointers, relocations_store_them) {
  TestImage image = with_code(ET_DYN);
  std::vector<uint8_t> symbols =
      bytes_of(Elf64_Sym{}, Elf64_Sym{0, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, kCode + 0x40, 8},
               Elf64_Sym{0, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, SHN_UNDEF, kCode + 0x60, 8});
  uint32_t dynsym = image.add_section(".dynsym", SHT_DYNSYM, 0, sizeof(Elf64_Sym), symbols);
  add_rela(image,
           bytes_of(rela(kData, R_X86_64_RELATIVE, kCode + 0x20),
                    rela(kData + 8, R_X86_64_IRELATIVE, kCode + 0x10), rela(kData + 16, R_X86_64_64, 4, 1),
                    rela(kData + 24, R_X86_64_64, 4, 2), rela(kData + 32, R_X86_64_64, 4, UINT32_MAX),
                    rela(kData + 40, R_X86_64_RELATIVE, kData)),
           dynsym);
  EXPECT_EQ(code_pointers(finish(image)), (Addresses{FileAddr(0x1010), FileAddr(0x1020), FileAddr(0x1044)}));
}

TEST(CodePointers, packed_relocations_name_their_places) {
  TestImage image = with_code(ET_DYN);
  image.add_segment(PF_R | PF_W, kData, bytes_of(kCode + 1, kCode + 2, kCode + 3, kCode + 4, uint64_t{5}));
  constexpr uint32_t kRelr = 19;
  // kData itself, then a bitmap over the words behind it: the first and the third.
  image.add_section(".relr.dyn", kRelr, 0, 8, bytes_of(kData, uint64_t{0b1011}, UINT64_MAX - 1, UINT64_MAX));
  image.sections().back().sh_flags = SHF_ALLOC;
  EXPECT_EQ(code_pointers(finish(image)),
            (Addresses{FileAddr(kCode + 1), FileAddr(kCode + 2), FileAddr(kCode + 4)}));
}

TEST(CodePointers, words_of_data_count_at_fixed_addresses_only) {
  for (uint16_t type : {uint16_t{ET_EXEC}, uint16_t{ET_DYN}}) {
    TestImage image = with_code(type);
    image.add_segment(PF_R, kRodata, bytes_of(uint32_t{0}, uint32_t{kCode + 9}, kCode + 8, uint64_t{7}));
    image.add_segment(PF_R | PF_W, kData, bytes_of(kCode + 16, kCode + 256));
    image.add_section_at(".rodata", SHT_PROGBITS, 0, kRodata + 4, 20);
    image.add_section_at(".data", SHT_PROGBITS, SHF_WRITE, kData, 16);
    Addresses expected = {FileAddr(kCode + 8), FileAddr(kCode + 16)};
    EXPECT_EQ(code_pointers(finish(image)), type == ET_EXEC ? expected : Addresses{});
  }
}

TEST(CodePointers, segments_do_without_section_headers) {
  TestImage image = with_code(ET_EXEC);
  image.add_segment(PF_R | PF_W, kData, bytes_of(kCode + 16));
  auto bytes = without_section_headers(image.finish());
  EXPECT_EQ(code_pointers(ElfFile::from_bytes("image", bytes).value()), (Addresses{FileAddr(kCode + 16)}));
}

TEST(CodePointers, dynamic_section_without_section_headers) {
  TestImage image = with_code(ET_DYN);
  image.add_segment(PF_R, kRodata, bytes_of(rela(kData, R_X86_64_RELATIVE, kCode + 3)));
  image.add_segment(
      PF_R, kData,
      bytes_of(Elf64_Dyn{DT_RELA, {kRodata}}, Elf64_Dyn{DT_RELASZ, {24}}, Elf64_Dyn{DT_INIT, {kCode + 5}}));
  Elf64_Phdr dynamic = image.segments().back();
  dynamic.p_type = PT_DYNAMIC;
  image.segments().push_back(dynamic);
  auto bytes = without_section_headers(image.finish());
  EXPECT_EQ(code_pointers(ElfFile::from_bytes("image", bytes).value()),
            (Addresses{FileAddr(kCode + 3), FileAddr(kCode + 5)}));
}

// lea table(%rip), %rdx at the given place of the code
void put_lea(std::vector<uint8_t>& code, size_t at, uint64_t table, uint8_t rex = 0x48,
             uint8_t modrm = 0x15) {
  code.resize(std::max(code.size(), at + 7));
  auto distance = static_cast<uint32_t>(table - (kCode + at + 7));
  code[at] = rex;
  code[at + 1] = 0x8d;
  code[at + 2] = modrm;
  std::memcpy(&code[at + 3], &distance, 4);
}

ElfFile switch_image(const std::vector<uint8_t>& code, const std::vector<uint8_t>& rodata,
                     uint32_t flags = PF_R) {
  TestImage image = with_code(ET_DYN, code);
  image.add_segment(flags, kRodata, rodata);
  return finish(image);
}

uint32_t entry(uint64_t target, uint64_t table) { return static_cast<uint32_t>(target - table); }

TEST(JumpTables, entries_count_from_their_table) {
  std::vector<uint8_t> code;
  put_lea(code, 3, kRodata);
  put_lea(code, 249, kRodata + 12, 0x4c, 0x2d);  // the last bytes of the code
  auto rodata =
      bytes_of(entry(kCode + 0x40, kRodata), entry(kCode + 0x50, kRodata), entry(kCode + 0x40, kRodata),
               entry(kCode + 0x60, kRodata + 12), uint32_t{1}, entry(kCode + 0x70, kRodata + 12));
  EXPECT_EQ(jump_table_targets(switch_image(code, rodata)),
            (Addresses{FileAddr(0x1040), FileAddr(0x1050), FileAddr(0x1060)}));
}

TEST(JumpTables, other_instructions_and_places_name_none) {
  auto rodata = bytes_of(entry(kCode + 0x40, kRodata), entry(kCode + 0x40, kRodata + 1));
  std::vector<uint8_t> no_rex, no_rip, writable, unaligned;
  put_lea(no_rex, 0, kRodata, 0x40);
  put_lea(no_rip, 0, kRodata, 0x48, 0x95);
  put_lea(unaligned, 0, kRodata + 1);
  put_lea(writable, 0, kRodata);
  EXPECT_TRUE(jump_table_targets(switch_image(no_rex, rodata)).empty());
  EXPECT_TRUE(jump_table_targets(switch_image(no_rip, rodata)).empty());
  EXPECT_TRUE(jump_table_targets(switch_image(unaligned, rodata)).empty());
  EXPECT_TRUE(jump_table_targets(switch_image(writable, rodata, PF_R | PF_W)).empty());
  EXPECT_FALSE(jump_table_targets(switch_image(writable, rodata)).empty());
}

#define BLIP_TEST_CASES(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
volatile int g_sink;
[[gnu::noinline]] int switches(int x) {
  switch (x) {
#define BLIP_TEST_CASE(n) \
  case n:                 \
    g_sink = (n)*7;       \
    return pointed_to(g_sink + (n) * (n));
    BLIP_TEST_CASES(BLIP_TEST_CASE)
  }
  return 0;
}

TEST(JumpTables, of_this_program_lie_in_its_code) {
  EXPECT_NE(switches(3), 0);
  Addresses found = jump_table_targets(test_self());
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
  for (FileAddr address : found) EXPECT_TRUE(test_self().is_code(address));
  SymbolTable symbols = SymbolTable::load(test_self()).value();
  const Function* function = symbols.function_at(file_addr(&switches));
  ASSERT_NE(function, nullptr);
  auto inside =
      std::count_if(found.begin(), found.end(), [&](FileAddr a) { return function->range().contains(a); });
  EXPECT_GE(inside, 12);
}

TEST(RseqSections, relocated_and_plain_entries) {
  TestImage image = with_code(ET_DYN);
  auto rodata = bytes_of(uint64_t{0}, uint64_t{0}, uint64_t{16}, uint64_t{0},   // filled by relocations
                         uint64_t{0}, kCode + 0x40, uint64_t{8}, kCode + 0x80,  // as it stands
                         uint64_t{0}, kCode + 0x40, uint64_t{8}, uint64_t{0x99999},
                         uint64_t{0});  // points nowhere; half an entry
  image.add_segment(PF_R, kRodata, rodata);
  image.add_section_at("__rseq_cs", SHT_PROGBITS, 0, kRodata, rodata.size());
  add_rela(image, bytes_of(rela(kRodata + 8, R_X86_64_RELATIVE, kCode + 0x10),
                           rela(kRodata + 24, R_X86_64_RELATIVE, kCode + 0x30),
                           rela(kRodata + 100, R_X86_64_RELATIVE, kCode),
                           rela(kRodata + 1000, R_X86_64_RELATIVE, kCode)));
  auto found = rseq_sections(finish(image));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].start, FileAddr(kCode + 0x10));
  EXPECT_EQ(found[0].length, 16u);
  EXPECT_EQ(found[0].abort, FileAddr(kCode + 0x30));
  EXPECT_EQ(found[1].start, FileAddr(kCode + 0x40));
  EXPECT_EQ(found[1].abort, FileAddr(kCode + 0x80));
  EXPECT_TRUE(rseq_sections(ElfFile::open("/bin/ls").value()).empty());
}

}  // namespace
}  // namespace blip::elf
