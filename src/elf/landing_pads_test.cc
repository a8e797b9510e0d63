// SPDX-License-Identifier: MIT
#include "elf/landing_pads.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "elf/symbols.h"
#include "elf/test_image.h"
#include "elf/test_self.h"

namespace {

volatile int g_depth = 0;

[[gnu::noinline]] void throw_if(int value) {
  g_depth = g_depth + 1;
  if (value > 0) throw value;
}

}  // namespace

extern "C" [[gnu::noinline]] int blip_landing_pads_test_catcher(int value) {
  try {
    throw_if(value);
  } catch (int thrown) {
    return thrown + g_depth;
  }
  return 0;
}

namespace blip::elf {
namespace {

bool any_in(const std::vector<FileAddr>& pads, FileRange range) {
  return std::any_of(pads.begin(), pads.end(), [&](FileAddr pad) { return range.contains(pad); });
}

const Function* find(const SymbolTable& table, std::string_view name) {
  for (const Function& function : table.functions())
    if (function.name == name) return &function;
  return nullptr;
}

TEST(LandingPads, a_function_with_try_and_catch_has_one) {
  EXPECT_GT(blip_landing_pads_test_catcher(1), 0);
  SymbolTable symbols = SymbolTable::load(test_self()).value();
  std::vector<FileAddr> pads = landing_pads(test_self());
  EXPECT_TRUE(std::is_sorted(pads.begin(), pads.end()));
  const Function* catcher = find(symbols, "blip_landing_pads_test_catcher");
  const Function* cold = find(symbols, "blip_landing_pads_test_catcher.cold");
  ASSERT_NE(catcher, nullptr);
  EXPECT_EQ(catcher->addr, file_addr(&blip_landing_pads_test_catcher));
  EXPECT_TRUE(any_in(pads, catcher->range()) || (cold && any_in(pads, cold->range())));
  for (FileAddr pad : pads) EXPECT_TRUE(test_self().is_code(pad));
}

TEST(LandingPads, frames_cover_the_functions_of_this_program) {
  std::vector<FileRange> frames = frame_ranges(test_self());
  EXPECT_TRUE(std::is_sorted(frames.begin(), frames.end()));
  SymbolTable symbols = SymbolTable::load(test_self()).value();
  const Function* catcher = find(symbols, "blip_landing_pads_test_catcher");
  ASSERT_NE(catcher, nullptr);
  EXPECT_NE(std::find(frames.begin(), frames.end(), catcher->range()), frames.end());
}

TEST(LandingPads, are_found_without_section_headers_too) {
  auto bytes = test_self().file_bytes(FileOffset(0), test_self().size());
  std::vector<uint8_t> stripped(bytes.begin(), bytes.end());
  auto file = ElfFile::from_bytes("stripped", without_section_headers(std::move(stripped))).value();
  ASSERT_TRUE(file.sections().empty());
  EXPECT_EQ(landing_pads(file), landing_pads(test_self()));
  EXPECT_EQ(frame_ranges(file), frame_ranges(test_self()));
}

// Writes .eh_frame with one CIE and one FDE, and the LSDA behind it.
class FrameWriter {
 public:
  static constexpr uint64_t kCode = 0x1000, kFrames = 0x3000, kLsda = 0x3100;

  std::vector<uint8_t> frames(uint8_t pointer_encoding, uint8_t lsda_encoding) {
    std::vector<uint8_t> cie = {0, 0, 0, 0, 1, 'z', 'P', 'L', 'R', 0, 1, 0x78, 16, 7, 0x9b, 1, 2, 3, 4};
    cie.insert(cie.end(), {lsda_encoding, pointer_encoding, 0, 0, 0});
    record(cie);
    std::vector<uint8_t> fde;
    TestImage::put(fde, static_cast<uint32_t>(out_.size() + 4));
    pointer(fde, pointer_encoding, kCode + 0x10);
    pointer(fde, pointer_encoding & 0x0f, 0x40);
    fde.push_back(static_cast<uint8_t>(4));  // not needed to be exact: the LSDA pointer comes first
    pointer(fde, lsda_encoding, kLsda);
    record(fde);
    TestImage::put(out_, uint32_t{0});
    return out_;
  }

 private:
  void record(const std::vector<uint8_t>& body) {
    TestImage::put(out_, static_cast<uint32_t>(body.size()));
    out_.insert(out_.end(), body.begin(), body.end());
  }

  void pointer(std::vector<uint8_t>& body, uint8_t encoding, uint64_t value) {
    if ((encoding & 0x70) == 0x10) value -= kFrames + out_.size() + 4 + body.size();
    switch (encoding & 0x0f) {
      case 0x0a:
        return TestImage::put(body, static_cast<uint16_t>(value));
      case 0x03:
      case 0x0b:
        return TestImage::put(body, static_cast<uint32_t>(value));
      case 0x01:
        for (; value >= 0x80; value >>= 7) body.push_back(static_cast<uint8_t>(value | 0x80));
        return body.push_back(static_cast<uint8_t>(value));
      default:
        return TestImage::put(body, value);
    }
  }

  std::vector<uint8_t> out_;
};

ElfFile image_with(uint8_t pointer_encoding, uint8_t lsda_encoding, const std::vector<uint8_t>& lsda) {
  std::vector<uint8_t> data = FrameWriter().frames(pointer_encoding, lsda_encoding);
  uint64_t frames_size = data.size();
  data.resize(FrameWriter::kLsda - FrameWriter::kFrames);
  data.insert(data.end(), lsda.begin(), lsda.end());
  TestImage image;
  image.add_segment(PF_R | PF_X, FrameWriter::kCode, std::vector<uint8_t>(256, 0x90));
  image.add_segment(PF_R, FrameWriter::kFrames, data);
  image.add_section_at(".text", SHT_PROGBITS, SHF_EXECINSTR, FrameWriter::kCode, 256);
  image.add_section_at(".eh_frame", SHT_PROGBITS, 0, FrameWriter::kFrames, frames_size);
  return ElfFile::from_bytes("image", image.finish()).value();
}

using Addresses = std::vector<FileAddr>;

// LPStart and types omitted; call sites as uleb128: one without a pad, two with.
const std::vector<uint8_t> kUlebLsda = {0xff, 0xff, 0x01, 12, 0, 4, 0, 0, 4, 4, 0x20, 1, 8, 4, 0x28, 0};

TEST(LandingPads, pointer_encodings) {
  for (auto [pointer, lsda] : {std::pair<uint8_t, uint8_t>{0x1b, 0x1b},
                               {0x00, 0x00},
                               {0x03, 0x03},
                               {0x0b, 0x0b},
                               {0x1c, 0x1c},
                               {0x1b, 0x1c},
                               {0x04, 0x04},
                               {0x0a, 0x0a},
                               {0x01, 0x01},
                               {0x10, 0x10}}) {
    SCOPED_TRACE(int{pointer});
    ElfFile file = image_with(pointer, lsda, kUlebLsda);
    EXPECT_EQ(landing_pads(file), (Addresses{FileAddr(0x1030), FileAddr(0x1038)}));
    EXPECT_EQ(frame_ranges(file), (std::vector<FileRange>{{FileAddr(0x1010), FileAddr(0x1050)}}));
  }
}

TEST(LandingPads, indirect_and_omitted_lsda_give_none) {
  for (uint8_t lsda : {uint8_t{0x9b}, uint8_t{0x3b}}) {
    EXPECT_TRUE(landing_pads(image_with(0x1b, lsda, kUlebLsda)).empty());
    EXPECT_EQ(frame_ranges(image_with(0x1b, lsda, kUlebLsda)).size(), 1u);
  }
}

TEST(LandingPads, base_and_type_table_are_read) {
  std::vector<uint8_t> lsda = {0x03, 0x80, 0x10, 0,    0,
                               0x9b, 0x85, 0x01, 0x03, 13};  // LPStart 0x1080, udata4 call sites
  for (uint32_t field : {0u, 4u, 0x11u}) TestImage::put(lsda, field);
  lsda.push_back(0);
  EXPECT_EQ(landing_pads(image_with(0x1b, 0x1b, lsda)), (Addresses{FileAddr(0x1091)}));
}

TEST(LandingPads, malformed_tables_end_quietly) {
  EXPECT_TRUE(landing_pads(image_with(0x1b, 0x1b, {})).empty());
  EXPECT_TRUE(
      landing_pads(image_with(0x1b, 0x1b, {0xff, 0xff, 0x0e, 12, 1, 2, 3})).empty());  // no such encoding
  EXPECT_TRUE(
      landing_pads(image_with(0x1b, 0x1b, {0xff, 0xff, 0x01, 0xff, 0xff, 0x7f, 1})).empty());  // cut off
  EXPECT_TRUE(
      landing_pads(image_with(0x1b, 0x1b, {0xff, 0xff, 0x01, 4, 0, 1, 0xff, 0x7f, 0})).empty());  // not code
  auto one = landing_pads(
      image_with(0x1b, 0x1b, {0xff, 0xff, 0x01, 200, 1, 0, 1, 0x20, 0}));  // longer than the file
  EXPECT_EQ(one, (Addresses{FileAddr(0x1030)}));
}

}  // namespace
}  // namespace blip::elf
