// SPDX-License-Identifier: MIT
#include "x86/branch_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "x86/test_bytes.h"
#include "x86/test_interior.h"

namespace blip::x86 {
namespace {

constexpr TargetAddr kBase(0x401000);
constexpr uint64_t kTextSize = 0x4000;
constexpr uint64_t kWindowAt = 0x2000;

// A text of nops with one window in the middle.
class BranchScan : public ::testing::Test {
 protected:
  BranchScan() : text_(kTextSize, 0x90) {}

  // Writes an instruction whose last `width` bytes lead to `goal`.
  void put_branch(uint64_t at, std::string_view opcode, size_t width, uint64_t goal) {
    auto op = test::bytes(opcode);
    std::copy(op.begin(), op.end(), text_.begin() + static_cast<ptrdiff_t>(at));
    auto rel = static_cast<int64_t>(goal - (at + op.size() + width));
    std::memcpy(&text_[at + op.size()], &rel, width);
  }

  bool refused(std::vector<TargetAddr> starts = {kBase}) const {
    return test::is_entered(text_, kBase, starts, window_);
  }

  std::vector<uint8_t> text_;
  AddrRange window_{kBase + kWindowAt, kBase + kWindowAt + 5};
};

TEST_F(BranchScan, nothing_there) { EXPECT_FALSE(refused()); }

// A text of several megabytes is looked at in pieces of one.
TEST_F(BranchScan, branches_around_every_megabyte) {
  text_.assign(0x300000, 0x90);
  for (uint64_t border : {0x100000ul, 0x200000ul}) {
    for (uint64_t at = border - 20; at < border + 4; ++at) {
      put_branch(at, "e9", 4, kWindowAt + 2);
      EXPECT_TRUE(refused({kBase + border - 0x100})) << at;
      std::fill_n(text_.begin() + static_cast<ptrdiff_t>(at), 5, 0x90);
    }
  }
  EXPECT_FALSE(refused());
}

TEST_F(BranchScan, every_rel32_form_at_every_alignment) {
  for (const char* opcode : {"e8", "e9", "f2 e9", "0f 80", "0f 85", "0f 8f", "c7 f8"}) {
    for (uint64_t at :
         {0x0ul, 0x100ul, 0x101ul, 0x10ful, 0x2005ul, 0x3ff0ul, kTextSize - test::bytes(opcode).size() - 4}) {
      std::fill(text_.begin(), text_.end(), 0x90);
      for (uint64_t goal = kWindowAt; goal <= kWindowAt + 5; ++goal) {
        put_branch(at, opcode, 4, goal);
        EXPECT_EQ(refused(), goal > kWindowAt && goal < kWindowAt + 5)
            << opcode << " at " << at << " to " << goal;
      }
    }
  }
}

TEST_F(BranchScan, every_rel8_form_within_reach) {
  for (const char* opcode : {"eb", "70", "7f", "e0", "e1", "e2", "e3", "67 e3"}) {
    uint64_t length = test::bytes(opcode).size() + 1;
    for (int rel : {-128, -20, 40, 127}) {
      std::fill(text_.begin(), text_.end(), 0x90);
      uint64_t goal = kWindowAt + (rel < 0 ? 1 : 4);
      put_branch(goal - static_cast<uint64_t>(int64_t{rel}) - length, opcode, 1, goal);
      EXPECT_TRUE(refused()) << opcode << " " << rel;
    }
  }
}

TEST_F(BranchScan, branch_inside_the_window_moves_along) {
  put_branch(kWindowAt, "74", 1, kWindowAt + 3);
  EXPECT_FALSE(refused());
}

TEST_F(BranchScan, bytes_of_an_immediate_are_dismissed) {
  put_branch(0x102, "e9", 4, kWindowAt + 1);
  text_[0x100] = 0x48;  // mov rax, imm64
  text_[0x101] = 0xb8;
  EXPECT_FALSE(refused());
  EXPECT_TRUE(refused({})) << "nothing to decode from";
  EXPECT_TRUE(refused({kBase + 0x103})) << "no start before it";
  EXPECT_TRUE(refused({kBase, kBase + 0x102})) << "a start right there";
  text_[0x80] = 0x06;
  EXPECT_TRUE(refused()) << "undecodable on the way";
}

TEST_F(BranchScan, start_too_far_to_be_trusted) {
  text_.assign(0x14000, 0x90);
  put_branch(0x12002, "e9", 4, kWindowAt + 1);
  text_[0x12000] = 0x48;
  text_[0x12001] = 0xb8;
  EXPECT_TRUE(refused({kBase}));
  EXPECT_FALSE(refused({kBase, kBase + 0x8000}));
}

TEST_F(BranchScan, tiny_texts) {
  for (size_t size : {0, 1, 2, 4, 5, 6, 7}) {
    text_.assign(size, 0xe9);
    EXPECT_FALSE(refused()) << size;
  }
}

// The scan with vector instructions against the plain definition, on random bytes.
TEST_F(BranchScan, finds_what_a_plain_loop_finds) {
  std::mt19937 random(1);
  const uint8_t likely[] = {0xe8, 0xe9, 0x0f, 0x84, 0xc7, 0xf8, 0x00, 0x00, 0xff, 0x01};
  for (int round = 0; round < 200; ++round) {
    text_.resize(300 + round);
    for (auto& b : text_) b = likely[random() % sizeof likely];
    bool expected = false;
    auto opcode_length = [&](size_t at) -> uint64_t {
      if (text_[at - 1] == 0xe8 || text_[at - 1] == 0xe9) return 1;
      if (at < 2) return 0;
      bool jcc = text_[at - 2] == 0x0f && text_[at - 1] >> 4 == 8;
      bool xbegin = text_[at - 2] == 0xc7 && text_[at - 1] == 0xf8;
      return jcc || xbegin ? 2 : 0;
    };
    window_.begin = kBase + random() % text_.size();
    window_.end = window_.begin + 1 + random() % 10;
    for (size_t at = 1; at + 4 <= text_.size(); ++at) {
      int32_t rel;
      std::memcpy(&rel, &text_[at], 4);
      TargetAddr target = kBase + at + 4 + static_cast<uint64_t>(int64_t{rel});
      TargetAddr from = kBase + at - opcode_length(at);
      expected |=
          opcode_length(at) && target > window_.begin && target < window_.end && !window_.contains(from);
    }
    const BranchFilter wanted = [&](const Branch& b) {
      return b.target > window_.begin && b.target < window_.end && !window_.contains(b.opcode);
    };
    EXPECT_EQ(!near_branches(text_, kBase, {}, wanted).empty(), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace blip::x86
