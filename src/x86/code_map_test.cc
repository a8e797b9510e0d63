// SPDX-License-Identifier: MIT
#include "x86/code_map.h"

#include <gtest/gtest.h>

#include <atomic>

#include "x86/test_bytes.h"

namespace blip::x86 {
namespace {

constexpr TargetAddr kBase(0x401000);

// A map of one function, padding included, at kBase.
struct Mapped {
  explicit Mapped(std::string_view hex, uint64_t size = 0)
      : text(test::bytes(hex)), map(text, kBase), function{kBase, kBase + (size ? size : text.size())} {
    map.decode({&function, 1}, {&function.begin, 1});
    map.scan(text, kBase, {&function.begin, 1});
  }
  CodeMap& finished() {
    map.finish();
    return map;
  }

  std::vector<uint8_t> text;
  CodeMap map;
  AddrRange function;
};

TEST(CodeMap, tells_when_pieces_of_the_text_were_read) {
  const std::vector<uint8_t> text((3 << 20) + 100, 0x90);
  std::atomic<int> pieces = 0;
  CodeMap map(text, kBase, [&] { ++pieces; });
  const AddrRange function{kBase, kBase + 16};
  map.decode({&function, 1}, {&function.begin, 1});
  EXPECT_EQ(pieces, 1);
  map.scan(text, kBase, {&function.begin, 1});
  EXPECT_EQ(pieces, 5);
}

TEST(CodeMap, instructions_and_what_joins_them) {
  Mapped m("55 48 89 e5 e8 00 00 00 00 5d c3");  // push; mov; call; pop; ret
  const CodeMap& map = m.finished();
  EXPECT_EQ(map.length(kBase), 1);
  EXPECT_EQ(map.length(kBase + 1), 3);
  EXPECT_EQ(map.length(kBase + 2), 0);
  EXPECT_TRUE(map.joins(kBase, kBase + 1));
  EXPECT_TRUE(map.joins(kBase + 1, kBase + 4)) << "a call may end a run";
  EXPECT_FALSE(map.joins(kBase + 4, kBase + 9)) << "but nothing follows it";
  EXPECT_TRUE(map.is_entry(kBase + 9)) << "the call returns there";
  EXPECT_TRUE(map.joins(kBase + 9, kBase + 10));
}

TEST(CodeMap, loops_enter_their_heads) {
  Mapped m("31 c0 ff c0 83 f8 0a 75 f9 c3");  // xor; 1: inc; cmp; jne 1b; ret
  const CodeMap& map = m.finished();
  EXPECT_TRUE(map.is_entry(kBase + 2));
  EXPECT_FALSE(map.joins(kBase, kBase + 2));
  EXPECT_TRUE(map.joins(kBase + 2, kBase + 4));
  EXPECT_TRUE(map.joins(kBase + 7, kBase + 9)) << "a conditional jump may stand in the middle";
}

TEST(CodeMap, nops_nobody_reaches_are_dead) {
  Mapped m("eb 03 0f 1f 00 c3 66 90 cc 90", 6);  // jmp 1f; nopl; 1: ret; padding behind the function
  const CodeMap& map = m.finished();
  for (uint64_t at : {2, 3, 4, 6, 7, 8, 9}) EXPECT_TRUE(map.is_dead(kBase + at)) << at;
  for (uint64_t at : {0, 1, 5}) EXPECT_FALSE(map.is_dead(kBase + at)) << at;
}

TEST(CodeMap, padding_behind_a_call_is_not_dead) {
  Mapped m("e8 fb ff ff ff 0f 1f 00", 5);
  EXPECT_FALSE(m.finished().is_dead(kBase + 5)) << "the call may come back";
}

TEST(CodeMap, padding_that_somebody_jumps_to_is_not_dead) {
  Mapped m("c3 90 90 90", 1);
  m.map.enter(kBase + 2);
  const CodeMap& map = m.finished();
  EXPECT_TRUE(map.is_dead(kBase + 1));
  EXPECT_FALSE(map.is_dead(kBase + 2));
  EXPECT_FALSE(map.is_dead(kBase + 3));
}

// glibc's "jump over the lock prefix".
TEST(CodeMap, an_entry_inside_an_instruction_pins_it) {
  Mapped m("74 01 f0 48 0f b1 0f c3");  // je 1f; lock 1: cmpxchg; ret
  const CodeMap& map = m.finished();
  EXPECT_TRUE(map.is_pinned(kBase + 2));
  EXPECT_FALSE(map.is_pinned(kBase + 7));
}

TEST(CodeMap, a_guess_that_leads_into_an_instruction_is_wrong) {
  Mapped m("48 b8 00 00 00 00 00 00 00 00 c3");
  m.map.enter(kBase + 4);
  EXPECT_FALSE(m.finished().is_pinned(kBase));
}

TEST(CodeMap, code_that_no_path_leads_to) {
  Mapped m("c3 31 c0 c3");
  const CodeMap& map = m.finished();
  EXPECT_TRUE(map.is_reached(kBase));
  EXPECT_FALSE(map.is_reached(kBase + 1));
}

TEST(CodeMap, a_jump_to_anywhere_opens_functions_with_code_nobody_reaches) {
  Mapped m("31 c9 31 d2 ff e0 31 c0 31 db c3");  // xor; xor; jmp *rax; xor; xor; ret
  const CodeMap& map = m.finished();
  EXPECT_TRUE(map.is_entry(kBase + 2)) << "it may lead there as well";
  EXPECT_FALSE(map.is_reached(kBase + 6));
}

TEST(CodeMap, a_jump_through_a_table_does_not) {
  Mapped m("31 c9 31 d2 ff e0 31 c0 31 db c3");
  m.map.enter(kBase + 6);
  const CodeMap& map = m.finished();
  EXPECT_FALSE(map.is_entry(kBase + 2));
  EXPECT_TRUE(map.is_reached(kBase + 8));
}

TEST(CodeMap, functions_that_take_addresses_of_their_labels_are_open) {
  Mapped m("48 8d 05 03 00 00 00 ff e0 90 31 c0 31 db c3");  // lea 1f(%rip); jmp *rax; nop; 1: xor; xor; ret
  ASSERT_EQ(m.map.label_users().size(), 1u);
  EXPECT_EQ(m.map.label_users()[0].labels, std::vector{kBase + 10});
  const CodeMap& map = m.finished();
  EXPECT_TRUE(map.is_reached(kBase + 10));
  EXPECT_TRUE(map.is_entry(kBase + 12)) << "another label, for all we know";
}

TEST(CodeMap, endbr64_stays_and_is_an_entry) {
  Mapped m("f3 0f 1e fa 31 c0 c3");
  const CodeMap& map = m.finished();
  EXPECT_TRUE(map.is_pinned(kBase));
  EXPECT_FALSE(map.is_entry(kBase + 4));
}

TEST(CodeMap, branches_from_code_that_was_not_decoded) {
  std::vector<uint8_t> text = test::bytes("31 c0 31 db 31 c9 c3 90 e9 f5 ff ff ff eb f5");
  CodeMap map(text, kBase);
  const AddrRange function{kBase, kBase + 7};
  const TargetAddr starts[] = {kBase, kBase + 8};
  map.decode({&function, 1}, starts);
  map.scan(text, kBase, starts);
  map.finish();
  EXPECT_TRUE(map.is_entry(kBase + 2)) << "jmp rel32";
  EXPECT_TRUE(map.is_entry(kBase + 4)) << "jmp rel8";
}

}  // namespace
}  // namespace blip::x86
