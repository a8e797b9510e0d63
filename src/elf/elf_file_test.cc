// SPDX-License-Identifier: MIT
#include "elf/elf_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "elf/test_image.h"
#include "elf/test_self.h"

namespace blip::elf {
namespace {

constexpr uint64_t kText = 0x1000, kData = 0x3000;

TestImage small_image(uint16_t type = ET_DYN) {
  TestImage image(type);
  image.add_segment(PF_R | PF_X, kText, std::vector<uint8_t>(64, 0x90));
  image.add_segment(PF_R | PF_W, kData, std::vector<uint8_t>(16, 0xaa));
  image.segments().back().p_memsz = 0x100;
  image.add_section_at(".text", SHT_PROGBITS, SHF_EXECINSTR, kText + 16, 32);
  image.header().e_entry = kText + 16;
  return image;
}

Result<ElfFile> parse(std::vector<uint8_t> bytes) { return ElfFile::from_bytes("image", std::move(bytes)); }

void expect_error(TestImage image, ErrorKind kind, const char* says) {
  auto file = parse(image.finish());
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().kind(), kind);
  EXPECT_NE(file.error().message().find(says), std::string::npos) << file.error().message();
}

TEST(ElfFile, facts_of_a_small_image) {
  auto file = parse(small_image().finish());
  ASSERT_TRUE(file.has_value()) << file.error().message();
  EXPECT_TRUE(file->is_position_independent());
  EXPECT_EQ(file->entry(), FileAddr(kText + 16));
  ASSERT_EQ(file->segments().size(), 2u);
  EXPECT_TRUE(file->segments()[0].exec && file->segments()[0].read && !file->segments()[0].write);
  EXPECT_EQ(file->segments()[1].range, (FileRange{FileAddr(kData), FileAddr(kData + 0x100)}));
  EXPECT_EQ(file->segments()[1].filesz, 16u);
  ASSERT_NE(file->find_section(".text"), nullptr);
  EXPECT_EQ(file->section_bytes(*file->find_section(".text")).size(), 32u);
  EXPECT_EQ(file->find_section(".nope"), nullptr);
  EXPECT_EQ(file->build_id(), "");
  EXPECT_FALSE(file->is_go());
  ASSERT_EQ(file->code_ranges().size(), 1u);
  EXPECT_EQ(file->code_ranges()[0], (FileRange{FileAddr(kText + 16), FileAddr(kText + 48)}));
  EXPECT_TRUE(file->is_code(FileAddr(kText + 47)));
  EXPECT_FALSE(file->is_code(FileAddr(kText + 48)));
}

TEST(ElfFile, bytes_are_cut_where_the_file_ends_them) {
  auto file = parse(small_image().finish()).value();
  auto size = [&](uint64_t begin, uint64_t end) {
    return file.bytes({FileAddr(begin), FileAddr(end)}).size();
  };
  EXPECT_EQ(size(kText, kText + 64), 64u);
  EXPECT_EQ(size(kText + 60, kText + 70), 4u);
  EXPECT_EQ(size(kData, kData + 0x100), 16u);
  EXPECT_EQ(size(kData + 0x20, kData + 0x30), 0u);  // zeroes behind the file's bytes
  EXPECT_EQ(size(0, 10), 0u);
  EXPECT_EQ(size(kText + 5, kText), 0u);
  EXPECT_EQ(size(UINT64_MAX - 4, UINT64_MAX), 0u);
}

TEST(ElfFile, offsets_become_addresses) {
  auto file = parse(small_image().finish()).value();
  FileOffset text = file.segments()[0].offset;
  EXPECT_EQ(file.address_of(text + 5), FileAddr(kText + 5));
  EXPECT_EQ(file.address_of(FileOffset(0)), std::nullopt);
  EXPECT_EQ(file.address_of(FileOffset(UINT64_MAX)), std::nullopt);
}

TEST(ElfFile, refuses_what_it_cannot_handle) {
  auto image = small_image();
  image.header().e_ident[EI_CLASS] = ELFCLASS32;
  expect_error(image, ErrorKind::kUnsupported, "32-bit programs are not supported");
  image = small_image();
  image.header().e_machine = EM_AARCH64;
  expect_error(image, ErrorKind::kUnsupported, "not an x86-64 program");
  image = small_image();
  image.header().e_ident[EI_DATA] = ELFDATA2MSB;
  expect_error(image, ErrorKind::kUnsupported, "little-endian");
  expect_error(small_image(ET_REL), ErrorKind::kInvalid, "neither a program nor a shared library");
  expect_error(small_image(ET_CORE), ErrorKind::kInvalid, "neither a program nor a shared library");
}

TEST(ElfFile, refuses_malformed_program_headers) {
  auto image = small_image();
  image.header().e_phoff = UINT64_MAX - 8;
  expect_error(image, ErrorKind::kInvalid, "outside of the file");
  image = small_image();
  image.header().e_phentsize = 1;
  expect_error(image, ErrorKind::kInvalid, "no program headers");
  image = small_image();
  image.segments()[1].p_vaddr = kText + 8;
  expect_error(image, ErrorKind::kInvalid, "segments overlap");
  image = small_image();
  image.segments()[1].p_memsz = UINT64_MAX;  // wraps around
  EXPECT_TRUE(parse(image.finish()).has_value());
  expect_error(TestImage(), ErrorKind::kInvalid, "no loadable segment");
}

TEST(ElfFile, segments_beyond_the_end_have_only_the_bytes_there_are) {
  auto image = small_image();
  image.segments()[1].p_offset = UINT64_MAX - 3;
  auto file = parse(image.finish()).value();
  EXPECT_EQ(file.segments()[1].filesz, 0u);
  EXPECT_TRUE(file.bytes_from(FileAddr(kData)).empty());
}

TEST(ElfFile, broken_section_headers_count_as_none) {
  for (uint64_t offset : {uint64_t{0}, uint64_t{1} << 40, UINT64_MAX}) {
    auto bytes = small_image().finish();
    std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_shoff), &offset, 8);
    auto file = parse(bytes).value();
    EXPECT_TRUE(file.sections().empty());
    ASSERT_EQ(file.code_ranges().size(), 1u);  // the executable segment instead
    EXPECT_EQ(file.code_ranges()[0].size(), 64u);
  }
}

TEST(ElfFile, knows_go_by_its_sections) {
  auto image = small_image();
  image.add_section(".go.buildinfo", SHT_PROGBITS, 0, 0, {1, 2, 3});
  EXPECT_TRUE(parse(image.finish())->is_go());
}

TEST(ElfFile, reads_the_build_id) {
  auto image = small_image();
  std::vector<uint8_t> note;
  TestImage::put(note, Elf64_Nhdr{4, 3, NT_GNU_ABI_TAG});
  for (uint8_t byte : {'G', 'N', 'U', '\0', '\1', '\2', '\3', '\0'}) note.push_back(byte);
  TestImage::put(note, Elf64_Nhdr{4, 4, NT_GNU_BUILD_ID});
  for (uint8_t byte : {uint8_t{'G'}, uint8_t{'N'}, uint8_t{'U'}, uint8_t{0}, uint8_t{0xde}, uint8_t{0xad},
                       uint8_t{0}, uint8_t{1}})
    note.push_back(byte);
  image.add_segment(PF_R, 0x8000, note, PT_NOTE);
  EXPECT_EQ(parse(image.finish())->build_id(), "dead0001");
}

TEST(ElfFile, open_wants_a_regular_elf_file) {
  EXPECT_EQ(ElfFile::open("/nonexistent/file").error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(ElfFile::open("/").error().kind(), ErrorKind::kInvalid);
  EXPECT_EQ(ElfFile::open("/dev/null").error().kind(), ErrorKind::kInvalid);
  EXPECT_EQ(ElfFile::open("/proc/self/status").error().kind(), ErrorKind::kInvalid);  // regular, of size 0
  EXPECT_EQ(ElfFile::open("/etc/passwd").error().kind(), ErrorKind::kInvalid);
  std::string fifo = testing::TempDir() + "/blip-elf-test-fifo-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(ElfFile::open(fifo).error().kind(), ErrorKind::kInvalid);
  unlink(fifo.c_str());
}

TEST(ElfFile, this_program) {
  const ElfFile& self = test_self();
  auto* here = reinterpret_cast<const uint8_t*>(&test_self);
  auto bytes = self.bytes({file_addr(here), file_addr(here) + 16});
  ASSERT_EQ(bytes.size(), 16u);
  EXPECT_EQ(std::memcmp(bytes.data(), here, 16), 0);
  EXPECT_TRUE(self.is_code(file_addr(here)));
  EXPECT_FALSE(self.build_id().empty() && self.find_section(".note.gnu.build-id"));
  const Section* text = self.find_section(".text");
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(self.section_at(file_addr(here)), text);
  EXPECT_EQ(self.address_of(text->offset), text->range.begin);
}

TEST(ElfFile, stays_valid_when_moved) {
  auto first = ElfFile::open("/proc/self/exe").value();
  std::string_view name = first.sections()[1].name;
  ElfFile second = std::move(first);
  EXPECT_EQ(second.sections()[1].name, name);
  EXPECT_NE(second.find_section(".text"), nullptr);
}

}  // namespace
}  // namespace blip::elf
