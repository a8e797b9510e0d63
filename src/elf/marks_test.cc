// SPDX-License-Identifier: MIT
#include "elf/marks.h"

#include <gtest/gtest.h>

#include "elf/mark_spec.h"
#include "elf/test_image.h"

namespace blip::elf {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t kCode = 0x1000, kData = 0x3000, kBase = 0x2000;

struct Note {
  uint64_t place = kCode + 4, base = 0, semaphore = 0;
  std::string strings = std::string("prov\0name\0-4@%edi\0", 18);
  uint32_t type = 3;
  std::string owner = "stapsdt";
};

Bytes bytes_of(const Note& note) {
  Bytes out;
  const auto add = [&](const std::string& text) { out.insert(out.end(), text.begin(), text.end()); };
  TestImage::put(out, Elf64_Nhdr{static_cast<uint32_t>(note.owner.size() + 1),
                                 static_cast<uint32_t>(24 + note.strings.size()), note.type});
  add(note.owner + std::string((note.owner.size() + 4) / 4 * 4 - note.owner.size(), '\0'));
  for (const uint64_t address : {note.place, note.base, note.semaphore}) TestImage::put(out, address);
  add(note.strings);
  while (out.size() % 4 != 0) out.push_back(0);
  return out;
}

std::vector<Mark> marks_in(const Bytes& notes, std::optional<uint64_t> base = {}) {
  TestImage image;
  image.add_segment(PF_R | PF_X, kCode, Bytes(64, 0x90));
  image.add_segment(PF_R, kBase, Bytes(16));
  image.add_segment(PF_R | PF_W, kData, Bytes(16));
  image.add_section_at(".text", SHT_PROGBITS, SHF_EXECINSTR, kCode, 64);
  if (base) image.add_section_at(".stapsdt.base", SHT_PROGBITS, 0, *base, 1);
  image.add_section(".note.stapsdt", SHT_NOTE, 0, 0, notes);
  return read_marks(ElfFile::from_bytes("marks", image.finish()).value());
}

std::vector<Mark> marks_in(std::initializer_list<Note> notes, std::optional<uint64_t> base = {}) {
  Bytes all;
  for (const Note& note : notes) {
    const Bytes one = bytes_of(note);
    all.insert(all.end(), one.begin(), one.end());
  }
  return marks_in(all, base);
}

TEST(Marks, say_who_where_and_what) {
  const auto marks = marks_in({{.semaphore = kData + 2}});
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0], (Mark{"prov", "name", FileAddr(kCode + 4), FileAddr(kData + 2), "-4@%edi"}));
}

TEST(Marks, are_sorted_and_each_is_told_once) {
  const auto marks = marks_in({{.place = kCode + 8}, {.place = kCode + 4}, {.place = kCode + 8}});
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_LT(marks[0].place, marks[1].place);
}

TEST(Marks, move_with_the_base_that_prelink_has_moved) {
  const Note note{.place = 0x904, .base = kBase - 0x700, .semaphore = kData - 0x700};
  const auto marks = marks_in({note}, kBase);
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].place, FileAddr(kCode + 4));
  EXPECT_EQ(marks[0].semaphore, FileAddr(kData));
}

TEST(Marks, stay_where_a_file_has_no_base) {
  EXPECT_EQ(marks_in({{.base = 0x777}}).size(), 1u);
  EXPECT_EQ(marks_in({{.base = 0}}, kBase).size(), 1u);
}

TEST(Marks, that_lead_to_no_code_or_have_no_name_are_left_out) {
  EXPECT_TRUE(marks_in({{.place = kData}}).empty());
  EXPECT_TRUE(marks_in({{.place = 0}}).empty());
  EXPECT_TRUE(marks_in({{.strings = std::string("prov\0\0\0", 7)}}).empty());
  EXPECT_TRUE(marks_in({{.strings = "prov"}}).empty());
  EXPECT_TRUE(marks_in({{.strings = ""}}).empty());
  EXPECT_TRUE(marks_in({{.type = 1}}).empty());
  EXPECT_TRUE(marks_in({{.owner = "GNU"}}).empty());
}

TEST(Marks, without_the_third_string_have_no_operands) {
  const auto marks = marks_in({{.strings = std::string("prov\0name\0", 10)}});
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].operands, "");
}

// The kernel would write there for anybody: blip must not.
TEST(Marks, semaphores_are_in_writable_data_only) {
  for (const uint64_t place : {kCode + 8, kBase, kData + 15, uint64_t{0x9000}, UINT64_MAX})
    EXPECT_FALSE(marks_in({{.semaphore = place}}).at(0).semaphore) << std::hex << place;
}

TEST(Marks, notes_that_are_cut_anywhere_end_the_search) {
  Bytes notes = bytes_of({});
  const Bytes second = bytes_of({.place = kCode + 8});
  notes.insert(notes.end(), second.begin(), second.end());
  for (size_t size = 0; size <= notes.size(); ++size) {
    const auto marks = marks_in(Bytes(notes.begin(), notes.begin() + static_cast<ptrdiff_t>(size)));
    EXPECT_LE(marks.size(), 2u) << size;
    EXPECT_GE(marks.size(), size / bytes_of({}).size()) << size;
  }
}

bool does_match(const char* spec, const char* provider, const char* name) {
  return matches(parse_mark_spec(spec).value(), {.provider = provider, .name = name});
}

TEST(MarkSpec, names_a_provider_and_a_mark) {
  EXPECT_TRUE(does_match("python:gc__start", "python", "gc__start"));
  EXPECT_FALSE(does_match("python:gc__start", "ruby", "gc__start"));
  EXPECT_TRUE(does_match("gc__start", "ruby", "gc__start"));
  EXPECT_TRUE(does_match("py*:gc__*", "python", "gc__done"));
  EXPECT_TRUE(does_match(":gc__start", "python", "gc__start"));
  EXPECT_TRUE(does_match("::gc__start", "python", "gc__start"));
  EXPECT_TRUE(does_match("python:", "python", "anything"));
  EXPECT_TRUE(does_match("python:gc-start", "python", "gc__start"));
  EXPECT_TRUE(does_match("a-b:c", "a-b", "c"));
  EXPECT_FALSE(does_match("python:gc", "python", "gc__start"));
}

TEST(MarkSpec, may_name_a_module) {
  const Spec spec = parse_mark_spec("libstdc++:libstdcxx:throw").value();
  EXPECT_EQ(spec.module, "libstdc++");
  EXPECT_EQ(spec.name, "libstdcxx:throw");
  EXPECT_TRUE(names_module(spec, "/usr/lib/libstdc++.so.6.0.30"));
  EXPECT_FALSE(names_module(spec, "/usr/lib/libc.so.6"));
  EXPECT_TRUE(names_module(parse_mark_spec("a:b").value(), "/usr/lib/libc.so.6"));
  EXPECT_TRUE(names_module(parse_mark_spec("/usr/bin/x:a:b").value(), "/usr/bin/x"));
  EXPECT_FALSE(parse_mark_spec("a:b:c:d"));
  EXPECT_FALSE(parse_mark_spec(""));
  EXPECT_FALSE(parse_mark_spec("::"));
}

}  // namespace
}  // namespace blip::elf
