// SPDX-License-Identifier: MIT
// Edits in memory of this process: order, dependence, and that all is as before in the end.
#include "probe/inject/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

#include "base/mapping.h"

namespace blip::probe {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr size_t kPages = 4;

class Text : public testing::Test {
 protected:
  Text()
      : mapping_(*Mapping::create(kPages * abi::kPageSize, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
        memory_(*proc::Memory::open(::getpid())) {
    for (size_t i = 0; i < mapping_.size(); ++i) mapping_.data()[i] = static_cast<uint8_t>(i * 7 + 1);
    before_.assign(mapping_.bytes().begin(), mapping_.bytes().end());
  }

  // Changes `size` bytes at an offset into 0xa0, 0xa1, ...; the jump goes on over `tail`.
  Edit edit(uint64_t offset, uint8_t size, uint16_t order, std::vector<uint8_t> tail = {}) {
    Edit e{.addr = at(offset), .order = order, .size = size, .window = size};
    e.length = static_cast<uint8_t>(size + tail.size());
    for (uint8_t i = 0; i < size; ++i) {
      e.original[i] = before_[offset + i];
      e.changed[i] = static_cast<uint8_t>(0xa0 + i);
    }
    std::copy(tail.begin(), tail.end(), e.changed.begin() + size);
    return e;
  }
  Edit short_jump(uint64_t offset, int8_t distance, uint16_t order) {
    Edit e = edit(offset, 2, order);
    e.changed[0] = 0xeb;
    e.changed[1] = static_cast<uint8_t>(distance);
    return e;
  }
  TargetAddr at(uint64_t offset) const {
    return TargetAddr(reinterpret_cast<uint64_t>(mapping_.data()) + offset);
  }
  std::vector<uint8_t> now(uint64_t offset, size_t size) const {
    return {mapping_.data() + offset, mapping_.data() + offset + size};
  }
  bool as_before() const { return std::equal(before_.begin(), before_.end(), mapping_.data()); }

  Mapping mapping_;
  proc::Memory memory_;
  std::vector<uint8_t> before_;
};

TEST_F(Text, edits_are_made_and_taken_back) {
  const EditSet set({edit(100, 5, 1), edit(3, 2, 1), edit(4095, 1, 1), edit(9000, 5, 1)});
  auto report = install_text(memory_, set, set.all());
  ASSERT_TRUE(report);
  EXPECT_THAT(report->foreign, IsEmpty());
  EXPECT_THAT(now(100, 5), ElementsAre(0xa0, 0xa1, 0xa2, 0xa3, 0xa4));
  EXPECT_EQ(now(4095, 1).front(), 0xa0);
  ASSERT_TRUE(restore_text(memory_, set, set.all()));
  EXPECT_TRUE(as_before());
}

TEST_F(Text, only_the_chosen_ones) {
  const EditSet set({edit(100, 5, 1), edit(200, 5, 1)});
  ASSERT_TRUE(install_text(memory_, set, {false, true}));
  EXPECT_EQ(now(100, 1).front(), before_[100]);
  EXPECT_EQ(now(200, 1).front(), 0xa0);
  ASSERT_TRUE(restore_text(memory_, set, set.all()));
  EXPECT_TRUE(as_before());
}

TEST_F(Text, a_pun_needs_the_bytes_behind_it) {
  const EditSet set({edit(100, 3, 3, {0xa0, 0xa1}), edit(103, 5, 1), edit(200, 3, 1, {0, 0})});
  EXPECT_THAT(set.contradictions(), IsEmpty());
  auto report = install_text(memory_, set, set.all());
  ASSERT_TRUE(report);
  EXPECT_THAT(report->foreign, ElementsAre(2)) << "other bytes follow than its jump ends with";
  EXPECT_EQ(now(100, 1).front(), 0xa0);
  ASSERT_TRUE(restore_text(memory_, set, {true, true, false}));
  EXPECT_TRUE(as_before());
}

TEST_F(Text, what_needs_a_foreign_place_is_left_too) {
  const EditSet set({edit(100, 3, 5, {0xa0}), edit(103, 2, 3, {0xa0}), edit(105, 5, 1), edit(300, 5, 1)});
  mapping_.data()[106] = 0xcc;
  auto report = install_text(memory_, set, set.all());
  ASSERT_TRUE(report);
  EXPECT_THAT(report->foreign, ElementsAre(2));
  EXPECT_THAT(report->left, ElementsAre(0, 1));
  EXPECT_EQ(now(100, 1).front(), before_[100]);
  EXPECT_EQ(now(300, 1).front(), 0xa0);
}

TEST_F(Text, what_a_changed_place_needs_stays) {
  const EditSet set({edit(100, 3, 3, {0xa0, 0xa1}), edit(103, 5, 1), edit(300, 5, 1)});
  ASSERT_TRUE(install_text(memory_, set, set.all()));
  mapping_.data()[100] = 0xcc;  // a debugger's breakpoint, which may be taken away again
  auto report = restore_text(memory_, set, set.all());
  ASSERT_TRUE(report);
  EXPECT_THAT(report->foreign, ElementsAre(0));
  EXPECT_THAT(report->left, ElementsAre(1));
  EXPECT_EQ(now(103, 1).front(), 0xa0);
  EXPECT_EQ(now(300, 1).front(), before_[300]);
}

TEST_F(Text, unmapped_pages_are_foreign) {
  const EditSet set({edit(100, 5, 1), edit(2 * abi::kPageSize + 100, 5, 1)});
  ASSERT_EQ(::munmap(mapping_.data() + abi::kPageSize, abi::kPageSize * 3), 0);
  auto report = install_text(memory_, set, set.all());
  ASSERT_TRUE(report);
  EXPECT_THAT(report->foreign, ElementsAre(1));
  EXPECT_EQ(now(100, 1).front(), 0xa0);
}

TEST_F(Text, late_edits_are_those_that_need_another_page) {
  // 0: a pun at the end of a page over a jump in the next; 1: that jump; 2: a pun over 0; 3: a short jump
  // back over the border; 4, 5: a pun within one page.
  const EditSet set({edit(4091, 2, 5, {0xa0}), edit(4093, 3, 3, {0xa0, 0xa1}), edit(4096, 5, 1),
                     short_jump(4101, -50, 7), edit(4101 + 2 - 50, 5, 6), edit(5000, 2, 3, {0xa0}),
                     edit(5002, 5, 1)});
  ASSERT_THAT(set.contradictions(), IsEmpty());
  std::vector<uint64_t> late;
  for (uint32_t i : set.late_edits()) late.push_back(set.edits()[i].addr - at(0));
  EXPECT_THAT(late, ElementsAre(4093, 4091, 4101)) << "in the order in which they are written";
  ASSERT_TRUE(install_text(memory_, set, set.all()));
  EXPECT_EQ(now(4093, 1).front(), 0xa0);
  EXPECT_EQ(now(4101, 1).front(), 0xeb);
  ASSERT_TRUE(restore_text(memory_, set, set.all()));
  EXPECT_TRUE(as_before());
}

TEST_F(Text, contradictions_are_found) {
  EXPECT_THAT(EditSet({edit(100, 5, 1), edit(104, 5, 1)}).contradictions(), testing::Contains(1))
      << "overlap";
  EXPECT_THAT(EditSet({edit(100, 3, 1, {0xa0}), edit(103, 5, 1)}).contradictions(), ElementsAre(0))
      << "needs what comes no earlier";
  EXPECT_THAT(EditSet({short_jump(100, 20, 1)}).contradictions(), ElementsAre(0)) << "no springboard";
  Edit wide = edit(100, 5, 1);
  wide.window = 10;
  EXPECT_THAT(EditSet({wide, edit(107, 2, 3)}).contradictions(), ElementsAre(1))
      << "a site in another's bytes";
  Edit board = edit(105, 5, 2);
  board.window = 0;
  EXPECT_THAT(EditSet({wide, board}).contradictions(), IsEmpty());
}

// Three pages, the last edit late. Each stop has time for one piece of work: at least one page more each
// time, and the late edit only when all of the others are there; taken back the other way round.
TEST_F(Text, what_there_is_no_time_for_is_left_for_another_stop) {
  const EditSet set({edit(100, 5, 1), edit(4091, 2, 2, {0xa0}), edit(4093, 1, 1), edit(9000, 5, 1)});
  const TimeIsUp at_once = [] { return true; };
  auto report = install_text(memory_, set, set.all(), at_once);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->undone.size(), set.size());
  EXPECT_TRUE(as_before());
  int asked = 0;
  const TimeIsUp second_time = [&] { return ++asked > 1; };
  report = install_text(memory_, set, set.all(), second_time);
  ASSERT_TRUE(report);
  const std::vector<size_t> late(set.late_edits().begin(), set.late_edits().end());
  EXPECT_EQ(report->undone, late) << "all others are one piece";
  report = install_text(memory_, set, set.all(), [] { return false; });
  ASSERT_TRUE(report);
  EXPECT_THAT(report->undone, IsEmpty());
  asked = 0;
  report = restore_text(memory_, set, set.all(), second_time);
  ASSERT_TRUE(report);
  ASSERT_TRUE(restore_text(memory_, set, set.all(), [] { return false; }));
  EXPECT_TRUE(as_before());
}

// Somebody else's bytes in a later piece leave alone what needs them, also of an earlier one.
TEST_F(Text, foreign_bytes_in_one_of_several_pieces) {
  const EditSet set({edit(100, 5, 1), edit(200, 5, 1), edit(9000, 5, 1)});
  mapping_.data()[201] ^= 0xff;
  const auto report = install_text(memory_, set, set.all(), [] { return false; });
  ASSERT_TRUE(report);
  EXPECT_THAT(report->foreign, ElementsAre(1));
  EXPECT_EQ(now(9000, 1).front(), 0xa0);
  ASSERT_TRUE(restore_text(memory_, set, {true, false, true}, [] { return false; }));
  mapping_.data()[201] ^= 0xff;
  EXPECT_TRUE(as_before());
}

TEST_F(Text, many_edits_are_made_fast) {
  constexpr size_t kCount = 320'000;
  auto big = *Mapping::create(kCount * 6, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::vector<Edit> edits;
  for (size_t i = 0; i < kCount; ++i) {
    Edit e{.addr = TargetAddr(reinterpret_cast<uint64_t>(big.data()) + i * 6),
           .order = 1,
           .size = 5,
           .length = 5};
    if (e.addr.value / abi::kPageSize != (e.addr.value + 4) / abi::kPageSize) continue;
    e.window = 5;
    e.changed = {0xe9, 1, 2, 3, 4};
    edits.push_back(e);
  }
  const EditSet set(std::move(edits));
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(install_text(memory_, set, set.all()));
  const auto middle = std::chrono::steady_clock::now();
  ASSERT_TRUE(restore_text(memory_, set, set.all()));
  const auto end = std::chrono::steady_clock::now();
  const auto ms = [](auto t) { return std::chrono::duration<double, std::milli>(t).count(); };
  RecordProperty("install_ms", std::to_string(ms(middle - start)));
  RecordProperty("restore_ms", std::to_string(ms(end - middle)));
  std::printf("%zu edits: %.1f ms in, %.1f ms out\n", set.size(), ms(middle - start), ms(end - middle));
  EXPECT_TRUE(std::all_of(big.bytes().begin(), big.bytes().end(), [](uint8_t b) { return b == 0; }));
}

}  // namespace
}  // namespace blip::probe
