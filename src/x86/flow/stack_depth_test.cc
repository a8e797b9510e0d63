// SPDX-License-Identifier: MIT
#include "x86/flow/stack_depth.h"

#include <gtest/gtest.h>

#include "x86/flow/switch_jump.h"
#include "x86/test_bytes.h"

namespace blip::x86 {
namespace {

constexpr TargetAddr kStart(0x1000);

struct Code {
  explicit Code(std::string_view text) : bytes(test::bytes(text)) {
    for (size_t at = 0; at < bytes.size();) {
      const auto rest = std::span<const uint8_t>(bytes).subspan(at);
      const auto insn = decode(rest, kStart + at);
      if (!insn) break;
      code.insns.push_back({*insn, rest.first(insn->length), stack_effect(rest), {}});
      at += insn->length;
    }
  }

  // "0 8 16 ?", "-" for what is not reached.
  std::string depths(bool inside = false) const {
    std::string words;
    for (const StackDepth& d :
         stack_depths(code, kStart, [&](size_t, const StackDepth&) { return inside; })) {
      words += words.empty() ? "" : " ";
      words += !d.reached ? "-" : d.known ? std::to_string(d.bytes) : "?";
    }
    return words;
  }

  std::vector<uint8_t> bytes;
  FunctionCode code;
};

std::string depths(std::string_view text) { return Code(text).depths(); }

TEST(StackDepth, follows_push_and_pop) {
  EXPECT_EQ(depths("53 55 5d 5b c3"), "0 8 16 8 0");     // push rbx; push rbp; pop rbp; pop rbx; ret
  EXPECT_EQ(depths("66 50 66 58 c3"), "0 2 0");          // push ax; pop ax; ret
  EXPECT_EQ(depths("6a 01 9c 58 58 c3"), "0 8 16 8 0");  // push $1; pushf; pop rax; pop rax; ret
  EXPECT_EQ(depths("58 50 c3"), "0 -8 0");               // pop rax; push rax; ret
}

TEST(StackDepth, follows_sums) {
  EXPECT_EQ(depths("48 83 ec 18 48 83 c4 18 c3"), "0 24 0");       // sub $24, rsp; add $24, rsp; ret
  EXPECT_EQ(depths("48 8d 64 24 f8 48 8d 64 24 08 c3"), "0 8 0");  // lea -8(rsp), rsp; lea 8(rsp), rsp; ret
  EXPECT_EQ(depths("48 29 fc c3"), "0 ?");                         // sub rdi, rsp; ret
}

TEST(StackDepth, finds_the_way_back_by_a_frame_pointer) {
  // push rbp; mov rsp, rbp; sub rdi, rsp; leave; ret
  EXPECT_EQ(depths("55 48 89 e5 48 29 fc c9 c3"), "0 8 8 ? 0");
  // push rbp; mov rsp, rbp; push rbx; sub rdi, rsp; lea -8(rbp), rsp; pop rbx; pop rbp; ret
  EXPECT_EQ(depths("55 48 89 e5 53 48 29 fc 48 8d 65 f8 5b 5d c3"), "0 8 8 16 ? 16 8 0");
}

TEST(StackDepth, finds_the_way_back_from_an_aligned_frame) {
  // lea 8(rsp), r10; and $-32, rsp; push -8(r10); push rbp; mov rsp, rbp; push r10; sub $32, rsp;
  // mov -8(rbp), r10; leave; lea -8(r10), rsp; ret
  EXPECT_EQ(depths("4c 8d 54 24 08 48 83 e4 e0 41 ff 72 f8 55 48 89 e5 41 52 48 83 ec 20 4c 8b 55 f8 c9 "
                   "49 8d 62 f8 c3"),
            "0 0 ? ? ? ? ? ? ? ? 0");
}

TEST(StackDepth, a_call_keeps_what_the_abi_says) {
  // push rbx; mov rsp, rbx; call +0; mov rbx, rsp; pop rbx; ret
  EXPECT_EQ(depths("53 48 89 e3 e8 00 00 00 00 48 89 dc 5b c3"), "0 8 8 8 8 0");
  // mov rsp, rcx; call +0; mov rcx, rsp; ret
  EXPECT_EQ(depths("48 89 e1 e8 00 00 00 00 48 89 cc c3"), "0 0 0 ?");
}

TEST(StackDepth, where_ways_disagree_nothing_is_known) {
  // test edi, edi; je 1f; push rax; 1: ret
  EXPECT_EQ(depths("85 ff 74 01 50 c3"), "0 0 0 ?");
}

TEST(StackDepth, behind_a_jump_nothing_is_reached) {
  EXPECT_EQ(depths("eb 01 50 c3"), "0 - 0");  // jmp 1f; push rax; 1: ret
  EXPECT_EQ(depths("0f 0b c3"), "0 -");       // ud2; ret
}

TEST(StackDepth, labels_are_reached_by_jumps_that_stay) {
  Code code("50 ff e0 58 c3");  // push rax; jmp *rax; label: pop rax; ret
  code.code.labels = {kStart + 3};
  EXPECT_EQ(code.depths(false), "0 8 - -");
  EXPECT_EQ(code.depths(true), "0 8 8 0");
}

TEST(StackDepth, the_unwind_table_helps) {
  Code code("48 29 fc c3");  // sub rdi, rsp; ret
  code.code.insns[1].hint = {StackHint::Base::kFromRsp, 24};
  EXPECT_EQ(code.depths(), "0 24");
}

TEST(StackDepth, another_frame_behind_a_call_is_not_reached) {
  Code code("53 e8 00 00 00 00 c3");  // push rbx; call; ret: of a part without a frame
  code.code.insns[1].hint = {StackHint::Base::kFromRsp, 8};
  code.code.insns[2].hint = {StackHint::Base::kFromRsp, 8};
  EXPECT_EQ(code.depths(), "0 8 8");
  code.code.insns[2].hint = {StackHint::Base::kFromRsp, 0};
  EXPECT_EQ(code.depths(), "0 8 -");
}

TEST(SwitchJump, finds_the_table) {
  // lea 0x100(rip), rdx; movslq (rdx,rax,4), rax; add rdx, rax; jmp *rax
  Code pic("48 8d 15 00 01 00 00 48 63 04 82 48 01 d0 ff e0");
  JumpSource source = jump_source(pic.code, 3);
  EXPECT_EQ(source.kind, JumpSource::Kind::kDistances);
  EXPECT_EQ(source.tables, std::vector<TargetAddr>{kStart + 0x107});
  Code absolute("ff 24 c5 00 20 00 00");  // jmp *0x2000(,rax,8)
  source = jump_source(absolute.code, 0);
  EXPECT_EQ(source.kind, JumpSource::Kind::kPointers);
  EXPECT_EQ(source.tables, std::vector<TargetAddr>{TargetAddr(0x2000)});
  Code loaded("bb 00 20 00 00 48 8b 04 c3 ff e0");  // mov $0x2000, ebx; mov (rbx,rax,8), rax; jmp *rax
  source = jump_source(loaded.code, 2);
  EXPECT_EQ(source.kind, JumpSource::Kind::kPointers);
  EXPECT_EQ(source.tables, std::vector<TargetAddr>{TargetAddr(0x2000)});
}

TEST(SwitchJump, or_that_there_is_none) {
  EXPECT_EQ(jump_source(Code("ff 25 00 01 00 00").code, 0).kind,
            JumpSource::Kind::kFixed);  // jmp *0x100(rip)
  EXPECT_EQ(jump_source(Code("48 8b 07 ff 60 18").code, 1).kind, JumpSource::Kind::kUnknown);  // jmp *24(rax)
  EXPECT_EQ(jump_source(Code("48 8b 07 ff e0").code, 1).kind, JumpSource::Kind::kUnknown);
  EXPECT_TRUE(jump_source(Code("3e ff e0").code, 0).notrack);
}

TEST(SwitchJump, a_sum_with_a_label_counts_from_it) {
  Code code("48 8d 15 00 01 00 00 c1 e1 06 48 01 d1 ff e1");  // lea 0x100(rip), rdx; shl $6, ecx; add rdx,
                                                              // rcx; jmp *rcx
  const JumpSource source = jump_source(code.code, 3);
  EXPECT_EQ(source.kind, JumpSource::Kind::kLabel);
  EXPECT_EQ(source.tables, std::vector<TargetAddr>{kStart + 0x107});
}

}  // namespace
}  // namespace blip::x86
