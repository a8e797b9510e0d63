// SPDX-License-Identifier: MIT
#include "unwind/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "elf/test_image.h"
#include "elf/test_self.h"
#include "unwind/test_libdw.h"
#include "unwind/test_tables.h"
#include "unwind/walk.h"

namespace blip::unwind {
namespace {

struct Agreement {
  size_t equal = 0, unsupported = 0, both_unknown = 0, padding = 0, different = 0;
  std::string first_difference;
};

// Compares the caller that step_up() finds by a rule with libdw's.
bool same_caller(const abi::UnwindRule& rule, const Registers& before, const LibdwFrames::Caller& theirs) {
  if (theirs.is_outermost) return rule.base == abi::UnwindRule::kOutermost;
  Registers ours = before;
  if (step_up(rule, ours, MadeUpMemory{}) != kGoesOn) return false;
  const bool same_rbp = ours.has_rbp ? theirs.rbp == ours.rbp : !theirs.rbp;
  return theirs.cfa == ours.rsp && theirs.rip == ours.rip && same_rbp && ours.is_return != theirs.is_signal;
}

// The CFA must lie above rsp, wherever it comes from: words of MadeUpMemory are large, rsp is not.
constexpr Registers kBefore = {.rip = 0, .rsp = 0x7000, .rbp = 0x8000};

void compare(RuleFinder& finder, LibdwFrames& libdw, uint64_t address, Agreement& sum) {
  Registers before = kBefore;
  before.rip = address;
  const abi::UnwindRule* rule = finder.find(address);
  ASSERT_NE(rule, nullptr);
  const auto theirs = libdw.caller_at(address, before);
  const bool leads_on = rule->base >= abi::UnwindRule::kRsp && rule->base <= abi::UnwindRule::kPlt;
  if (rule->base == abi::UnwindRule::kUnsupported) {
    ++(theirs.is_known ? sum.unsupported : sum.padding);
  } else if (!theirs.is_known) {
    ++(leads_on ? sum.padding : sum.both_unknown);
  } else if (same_caller(*rule, before, theirs)) {
    ++sum.equal;
  } else if (++sum.different == 1) {
    sum.first_difference = "at " + std::to_string(address);
  }
}

Agreement compare_file(const std::string& path, size_t samples) {
  auto file = elf::ElfFile::open(path);
  EXPECT_TRUE(file) << path;
  const auto made = make_tables(*file);
  TestTables tables(arena_size(made, 1));
  tables.add(made, 0);
  RuleFinder finder(tables.header());
  LibdwFrames libdw(path);
  const uint64_t seed = std::random_device()();
  std::mt19937_64 random(seed);
  Agreement sum;
  for (const SegmentTable& table : made)
    for (size_t i = 0; i < samples; ++i)
      compare(finder, libdw, table.code.begin.value + random() % table.code.size(), sum);
  EXPECT_EQ(sum.different, 0u) << path << ", seed " << seed << ": " << sum.first_difference;
  return sum;
}

class TableOf : public testing::TestWithParam<const char*> {};

TEST_P(TableOf, agrees_with_libdw) {
  const std::string path = GetParam()[0] == '/' ? GetParam() : elf::loaded_library(GetParam());
  if (path.empty() || !std::filesystem::exists(path)) GTEST_SKIP() << "not here";
  constexpr size_t kSamples = 100'000;
  const Agreement sum = compare_file(path, kSamples);
  EXPECT_GT(sum.equal, kSamples * 8 / 10);
  EXPECT_LT(sum.unsupported, kSamples / 25);  // libcrypto: much of it is assembly
  EXPECT_LT(sum.padding, kSamples / 10);
}
INSTANTIATE_TEST_SUITE_P(Files, TableOf,
                         testing::Values("libc.so", "libstdc++.so", "/usr/bin/python3.11", "/usr/bin/gdb",
                                         "/lib/x86_64-linux-gnu/libcrypto.so.3", "/proc/self/exe"),
                         [](const auto& param) {
                           std::string name;
                           for (const char c : std::string(param.param)) name += std::isalnum(c) ? c : '_';
                           return name;
                         });

// One function, at 0x1000, whose unwind table is in `section`.
elf::ElfFile file_with(const char* section, bool is_debug_frame, std::vector<uint8_t> code) {
  std::vector<uint8_t> frames;
  const auto put = [&](const auto& value) { elf::TestImage::put(frames, value); };
  put(uint32_t{16});  // CIE: version 1, no augmentation, code by 1, data by -8, return address 16
  put(is_debug_frame ? UINT32_MAX : uint32_t{0});
  for (const uint8_t byte : {1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0}) put(byte);
  put(uint32_t{24});  // FDE: from byte 2 on CFA = rsp + 32
  put(is_debug_frame ? uint32_t{0} : uint32_t{24});
  put(uint64_t{0x1000});
  put(uint64_t{8});
  for (const uint8_t byte : {0x42, 0x0e, 32, 0}) put(byte);
  elf::TestImage image;
  image.add_segment(PF_R | PF_X, 0x1000, code);
  image.add_section_at(".text", SHT_PROGBITS, SHF_EXECINSTR, 0x1000, code.size());
  if (is_debug_frame) {
    image.add_section(section, SHT_PROGBITS, 0, 0, frames);
  } else {
    image.add_segment(PF_R, 0x3000, frames);
    image.add_section_at(section, SHT_PROGBITS, 0, 0x3000, frames.size());
  }
  return *elf::ElfFile::from_bytes("made up", image.finish());
}

// "0:rsp+8 2:rsp+32 8:unknown"
std::string rows_of(const elf::ElfFile& file) {
  std::string text;
  for (const SegmentTable& table : make_tables(file))
    for (const uint32_t row : table.rows) {
      const abi::UnwindRule& rule = table.rules[row >> abi::kUnwindRuleShift];
      text += (text.empty() ? "" : " ") + std::to_string(row & 0xffff) + ":";
      if (rule.base == abi::UnwindRule::kUnknown)
        text += "unknown";
      else
        text +=
            (rule.flags & abi::UnwindRule::kSignal ? "signal+" : "rsp+") + std::to_string(rule.cfa_offset);
    }
  return text;
}

TEST(Table, of_eh_frame_or_else_debug_frame) {
  const std::vector<uint8_t> code(32, 0xc3);
  EXPECT_EQ(rows_of(file_with(".eh_frame", false, code)), "0:rsp+8 2:rsp+32 8:unknown");
  EXPECT_EQ(rows_of(file_with(".debug_frame", true, code)), "0:rsp+8 2:rsp+32 8:unknown");
  EXPECT_EQ(rows_of(file_with(".other", true, code)), "0:unknown");
}

TEST(Table, padding_is_no_code) {
  std::vector<uint8_t> code(32, 0xc3);
  std::fill(code.begin() + 8, code.end(), uint8_t{0x90});
  EXPECT_EQ(rows_of(file_with(".eh_frame", false, code)), "0:rsp+8 2:rsp+32");
}

// musl has no unwind table for it.
TEST(Table, the_way_back_from_a_handler_is_known_by_its_bytes) {
  std::vector<uint8_t> code(32, 0xc3);
  const std::vector<uint8_t> restore = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
  std::copy(restore.begin(), restore.end(), code.begin() + 16);
  EXPECT_EQ(rows_of(file_with(".eh_frame", false, code)),
            "0:rsp+8 2:rsp+32 8:unknown 15:signal+160 25:unknown");
  std::rotate(code.begin() + 8, code.begin() + 16, code.end());  // right behind the function
  EXPECT_EQ(rows_of(file_with(".eh_frame", false, code)), "0:rsp+8 2:rsp+32 7:signal+160 17:unknown");
}

TEST(Table, is_a_fraction_of_eh_frame) {
  for (const std::string& path : {elf::loaded_library("libc.so"), std::string("/usr/bin/python3.11")}) {
    auto file = elf::ElfFile::open(path);
    if (!file) continue;
    uint64_t size = 0;
    for (const SegmentTable& table : make_tables(*file)) size += table.size();
    RecordProperty("bytes", std::to_string(size));
    EXPECT_LT(size, file->find_section(".eh_frame")->size) << path;
  }
}

}  // namespace
}  // namespace blip::unwind
