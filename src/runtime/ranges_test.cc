// SPDX-License-Identifier: MIT
// The entries of the blob for valid ranges, as pads call them.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "ring/range_publisher.h"
#include "ring/ranges.h"
#include "ring/test_region.h"
#include "runtime/test_blob.h"

namespace blip::runtime {
namespace {

using test::kRax, test::kRcx, test::kRdx;
constexpr abi::Geometry kGeometry = {.ring_count = 1, .class_count = 2, .ranges = true};
using test::kRsi, test::kRdi, test::kR10;
constexpr int kR11 = 11;

class BlobRanges : public testing::Test {
 protected:
  BlobRanges() {
    region_.gate()->own_ranges = 1;
    const AddrRange ranges[] = {{TargetAddr(0x10000), TargetAddr(0x20000)}};
    EXPECT_TRUE(publisher_.publish(publisher_.begin().value(), ranges, TargetAddr(0)));
  }

  Frame call(uint32_t entry, uint64_t rax, const std::vector<std::pair<int, uint64_t>>& registers) {
    Frame frame{};
    for (int i = 0; i < 16; ++i) frame.registers.gpr[i] = unchanged(i);
    for (const auto& [reg, value] : registers) frame.registers.gpr[reg] = value;
    frame.registers.gpr[kRax] = rax;
    frame.registers.gpr[kRcx] = reinterpret_cast<uint64_t>(region_.region());
    frame.code = reinterpret_cast<uint64_t>(code_.data()) + entry;
    blip_test_call_with_registers(&frame);
    return frame;
  }
  static uint64_t unchanged(int reg) { return 0x1111111111111111u * static_cast<unsigned>(reg + 1); }
  bool is_valid(uint64_t addr) { return ring::find_range(region_.region(), addr, 0); }

  ring::TestRegion region_{kGeometry};
  ring::RangePublisher publisher_{kGeometry, region_.region()};
  Mapping code_ = callable_blob();
};

TEST_F(BlobRanges, a_call_that_unmaps_is_announced_by_its_registers) {
  const Frame frame = call(kBeginCallOffset, SYS_munmap, {{kRdi, 0x18000}, {kRsi, 0x1000}});
  EXPECT_EQ(frame.registers.gpr[kRax], 1u);
  EXPECT_TRUE(is_valid(0x17fff));
  EXPECT_FALSE(is_valid(0x18000));
  EXPECT_FALSE(publisher_.begin());
}

TEST_F(BlobRanges, the_fourth_argument_is_in_r10) {
  const std::vector<std::pair<int, uint64_t>> there = {{kRdi, 0x18000}, {kRsi, 0x1000}, {kRdx, PROT_READ}};
  auto fixed = there, anywhere = there;
  anywhere.emplace_back(kR10, MAP_PRIVATE);
  fixed.emplace_back(kR10, MAP_PRIVATE | MAP_FIXED);
  EXPECT_EQ(call(kBeginCallOffset, SYS_mmap, anywhere).registers.gpr[kRax], 0u);
  EXPECT_TRUE(is_valid(0x18000));
  EXPECT_EQ(call(kBeginCallOffset, SYS_mmap, fixed).registers.gpr[kRax], 1u);
  EXPECT_FALSE(is_valid(0x18000));
}

TEST_F(BlobRanges, changes_what_a_system_call_changes) {
  const Frame frame = call(kBeginCallOffset, SYS_munmap, {{kRsi, 0x1000}});
  for (int reg = 0; reg < 16; ++reg) {
    if (reg == kRax || reg == kRcx || reg == kR11 || reg == kRsi) continue;
    EXPECT_EQ(frame.registers.gpr[reg], unchanged(reg)) << reg;
  }
  EXPECT_EQ(frame.registers.gpr[kRsi], 0x1000u);
}

TEST_F(BlobRanges, a_range_is_found_and_kept_as_a_hint) {
  const Frame found = call(kFindRangeOffset, 5, {{kRdx, 0x1ffff}});
  EXPECT_EQ(found.registers.gpr[kRdx], 1u);
  EXPECT_NE(reinterpret_cast<const uint64_t*>(reinterpret_cast<const uint8_t*>(region_.gate()) +
                                              abi::kRangeHintsOffset)[5],
            0u);
  const Frame none = call(kFindRangeOffset, 5, {{kRdx, 0x20000}});
  EXPECT_EQ(none.registers.gpr[kRdx], 0u);
  EXPECT_EQ(publisher_.misses(), 1u);
}

}  // namespace
}  // namespace blip::runtime
