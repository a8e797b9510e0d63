// SPDX-License-Identifier: MIT
#include "probe/patch/edits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "x86/decode.h"

namespace blip::probe {
namespace {

using testing::ElementsAre;

constexpr TargetAddr kSite(0x401000);

Site site(std::vector<uint8_t> bytes, uint8_t padding = 0) {
  Site s;
  s.rewrite.start = kSite;
  s.rewrite.length = static_cast<uint8_t>(bytes.size() - padding);
  s.rewrite.padding = padding;
  s.bytes = std::move(bytes);
  return s;
}

TEST(SiteEdits, near_jump_changes_five_bytes_and_leaves_the_rest_of_the_window) {
  const auto edits = site_edits(site({1, 2, 3, 4, 5, 6, 7}), TargetAddr(0x501005), nullptr);
  ASSERT_TRUE(edits);
  ASSERT_EQ(edits->size(), 1u);
  const Edit& e = edits->front();
  EXPECT_THAT(e.changed_bytes(), ElementsAre(0xe9, 0, 0, 0x10, 0));
  EXPECT_THAT(e.original_bytes(), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_TRUE(e.tail().empty());
  EXPECT_EQ(e.window, 7);
  EXPECT_EQ(e.order, 1);
}

TEST(SiteEdits, trap_changes_one_byte) {
  Site s = site({0x48, 0x89, 0xe5});
  s.rewrite.step = x86::Step::kTrap;
  const auto edits = site_edits(s, TargetAddr(0x7fff'0000'0000), nullptr);  // however far the pad is
  ASSERT_TRUE(edits);
  ASSERT_EQ(edits->size(), 1u);
  EXPECT_THAT(edits->front().changed_bytes(), ElementsAre(0xcc));
  EXPECT_THAT(edits->front().original_bytes(), ElementsAre(0x48));
  EXPECT_TRUE(edits->front().tail().empty());
  EXPECT_EQ(edits->front().window, 3);
  EXPECT_EQ(edits->front().pad, TargetAddr(0x7fff'0000'0000));
}

TEST(SiteEdits, punned_jump_changes_its_own_bytes_only) {
  Site s = site({0x48, 0x89, 0xe5});
  s.rewrite.entry = TargetAddr(kSite.value + 5 + 0x11223344);
  const auto edits = site_edits(s, TargetAddr(0x500000), nullptr);
  ASSERT_TRUE(edits);
  EXPECT_THAT(edits->front().changed_bytes(), ElementsAre(0xe9, 0x44, 0x33));
  EXPECT_THAT(edits->front().tail(), ElementsAre(0x22, 0x11));
  EXPECT_EQ(edits->front().pad, TargetAddr(0x500000));
}

TEST(SiteEdits, prefixed_puns_decode_as_jumps_to_the_entry) {
  for (uint8_t prefixes = 1; prefixes <= 3; ++prefixes) {
    Site s = site({0x48, 0x8b, 0x04, 0x24});
    s.rewrite.prefixes = prefixes;
    s.rewrite.entry = TargetAddr(0x12345678);
    const auto edits = site_edits(s, TargetAddr(0x500000), nullptr);
    ASSERT_TRUE(edits);
    const Edit& e = edits->front();
    EXPECT_EQ(e.size, 4);
    EXPECT_EQ(e.length, prefixes + 5);
    const auto insn = x86::decode({e.changed.data(), e.length}, kSite);
    ASSERT_TRUE(insn);
    EXPECT_EQ(insn->length, e.length);
    EXPECT_EQ(insn->target, s.rewrite.entry);
  }
}

TEST(SiteEdits, the_opcode_must_be_in_the_site_s_own_bytes) {
  Site s = site({0x31, 0xc0});
  s.rewrite.prefixes = 2;
  s.rewrite.entry = TargetAddr(0x500000);
  EXPECT_FALSE(site_edits(s, TargetAddr(0x500000), nullptr));
}

TEST(SiteEdits, springboard_in_padding_is_written_before_the_short_jump) {
  Site s = site({0x31, 0xc0});
  s.rewrite.springboard = kSite + 0x20;
  s.rewrite.rank = 3;
  s.springboard_bytes = {0x66, 0x90, 0xcc, 0xcc, 0xcc};
  const auto edits = site_edits(s, TargetAddr(0x501025), nullptr);
  ASSERT_TRUE(edits);
  ASSERT_EQ(edits->size(), 2u);
  EXPECT_THAT((*edits)[0].changed_bytes(), ElementsAre(0xe9, 0, 0, 0x10, 0));
  EXPECT_EQ((*edits)[0].window, 0);
  EXPECT_EQ((*edits)[0].order, 6);
  EXPECT_THAT((*edits)[1].changed_bytes(), ElementsAre(0xeb, 0x1e));
  EXPECT_TRUE((*edits)[1].is_short_jump());
  EXPECT_EQ((*edits)[1].short_target(), s.rewrite.springboard);
  EXPECT_EQ((*edits)[1].order, 7);
}

TEST(SiteEdits, springboard_before_the_site_in_the_tail_of_a_neighbour) {
  Site host = site({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  host.rewrite.start = kSite - 0x40;
  Site s = site({0x31, 0xc0});
  s.rewrite.springboard = host.rewrite.start + 5;
  const auto edits = site_edits(s, TargetAddr(0x501000), &host);
  ASSERT_TRUE(edits);
  EXPECT_THAT((*edits)[0].original_bytes(), ElementsAre(6, 7, 8, 9, 10));
  EXPECT_EQ((*edits)[1].short_target(), s.rewrite.springboard);
  EXPECT_GT((*edits)[0].order, site_edits(host, TargetAddr(0x501100), nullptr)->front().order);
}

TEST(SiteEdits, a_short_jump_may_be_a_pun_too) {
  Site s = site({0x50});
  s.rewrite.springboard = kSite + 2 + 0x48;
  s.springboard_bytes = {0xcc, 0xcc, 0xcc, 0xcc, 0xcc};
  const auto edits = site_edits(s, TargetAddr(0x501000), nullptr);
  ASSERT_TRUE(edits);
  EXPECT_THAT((*edits)[1].changed_bytes(), ElementsAre(0xeb));
  EXPECT_THAT((*edits)[1].tail(), ElementsAre(0x48));
}

TEST(SiteEdits, springboard_whose_jump_is_a_pun) {
  Site host = site({1, 2, 3, 4, 5, 6, 7});
  host.rewrite.start = kSite + 2;
  Site s = site({0x31, 0xc0});
  s.rewrite.rank = 1;
  s.rewrite.springboard = host.rewrite.start + 5;
  s.rewrite.entry = TargetAddr(s.rewrite.springboard.value + 5 + 0x11223344);
  const auto edits = site_edits(s, TargetAddr(0x501000), &host);
  ASSERT_TRUE(edits);
  EXPECT_THAT((*edits)[0].changed_bytes(), ElementsAre(0xe9, 0x44));
  EXPECT_THAT((*edits)[0].tail(), ElementsAre(0x33, 0x22, 0x11));
}

TEST(SiteEdits, the_next_page_is_left_alone) {
  Site s = site({1, 2, 3, 4, 5, 6});
  s.rewrite.start = TargetAddr(0x401ffd);
  s.rewrite.entry = TargetAddr(0x401ffd + 5 + 0x05040000);
  const auto edits = site_edits(s, TargetAddr(0x500000), nullptr);
  ASSERT_TRUE(edits);
  EXPECT_THAT(edits->front().changed_bytes(), ElementsAre(0xe9, 0, 0));
  EXPECT_THAT(edits->front().tail(), ElementsAre(4, 5));
}

TEST(SiteEdits, out_of_reach) {
  EXPECT_FALSE(site_edits(site({1, 2, 3, 4, 5}), TargetAddr(0x7f0000000000), nullptr));
  Site s = site({0x31, 0xc0});
  s.rewrite.springboard = kSite + 0x82;
  s.springboard_bytes = {0xcc, 0xcc, 0xcc, 0xcc, 0xcc};
  EXPECT_FALSE(site_edits(s, TargetAddr(0x500000), nullptr));
}

}  // namespace
}  // namespace blip::probe
