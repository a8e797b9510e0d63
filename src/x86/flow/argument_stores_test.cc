// SPDX-License-Identifier: MIT
#include "x86/flow/argument_stores.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "x86/test_bytes.h"

namespace blip::x86 {
namespace {

// "-8:8=7 ..." for 8 bytes of general register 7 at -8, "x" before vector registers; then where rsp and rbp
// are.
std::string stores(std::string_view text) {
  const auto code = test::bytes(text);
  const Prologue prologue = argument_stores(code);
  std::string result;
  for (const ArgumentStore& s : prologue.stores)
    result += fmt::format("{}:{}={}{} ", s.at, s.size, s.is_vector ? "x" : "", s.reg);
  const auto shown = [](std::optional<int64_t> offset) { return offset ? std::to_string(*offset) : "?"; };
  return result + "rsp " + shown(prologue.rsp) + " rbp " + shown(prologue.rbp);
}

TEST(ArgumentStores, behind_the_stack_pointer) {
  // sub $0x18, rsp; mov rdi, 8(rsp); mov esi, 4(rsp); mov r8b, 3(rsp); ret
  EXPECT_EQ(stores("48 83 ec 18 48 89 7c 24 08 89 74 24 04 44 88 44 24 03 c3"),
            "-16:8=7 -20:4=6 -21:1=8 rsp -24 rbp ?");
}

TEST(ArgumentStores, behind_a_frame_pointer) {
  // push rbp; mov rsp, rbp; mov rdi, -8(rbp); movss xmm0, -12(rbp); movsd xmm1, -24(rbp)
  EXPECT_EQ(stores("55 48 89 e5 48 89 7d f8 f3 0f 11 45 f4 f2 0f 11 4d e8"),
            "-8:8=5 -16:8=7 -20:4=x0 -32:8=x1 rsp -8 rbp -8");
}

TEST(ArgumentStores, by_way_of_another_register) {
  // mov r9b, al; and $1, al; mov al, -1(rsp); mov eax, -8(rsp)
  EXPECT_EQ(stores("44 88 c8 24 01 88 44 24 ff 89 44 24 f8"), "-1:1=9 rsp 0 rbp ?");
  // mov rdi, rax; mov rax, -8(rsp)
  EXPECT_EQ(stores("48 89 f8 48 89 44 24 f8"), "-8:8=7 rsp 0 rbp ?");
}

TEST(ArgumentStores, by_way_of_another_place) {
  // sub $0x38, rsp; mov rdi, 8(rsp); mov 8(rsp), rax; mov rax, (rsp): rustc's enums
  EXPECT_EQ(stores("48 83 ec 38 48 89 7c 24 08 48 8b 44 24 08 48 89 04 24"), "-48:8=7 -56:8=7 rsp -56 rbp ?");
  // mov rdi, -8(rsp); mov rsi, -16(rsp); mov -16(rsp), rax; mov rax, -8(rsp): a = b
  EXPECT_EQ(stores("48 89 7c 24 f8 48 89 74 24 f0 48 8b 44 24 f0 48 89 44 24 f8"), "-16:8=6 rsp 0 rbp ?");
  // mov rdi, -8(rsp); mov -4(rsp), eax; mov eax, -16(rsp): the upper half
  EXPECT_EQ(stores("48 89 7c 24 f8 8b 44 24 fc 89 44 24 f0"), "-8:8=7 rsp 0 rbp ?");
}

TEST(ArgumentStores, nothing_of_what_was_changed) {
  // add $1, rdi; mov rdi, -8(rsp)
  EXPECT_EQ(stores("48 83 c7 01 48 89 7c 24 f8"), "rsp 0 rbp ?");
  // xor edi, edi; mov rdi, -8(rsp)
  EXPECT_EQ(stores("31 ff 48 89 7c 24 f8"), "rsp 0 rbp ?");
  // mulss xmm0, xmm0; movss xmm0, -4(rsp)
  EXPECT_EQ(stores("f3 0f 59 c0 f3 0f 11 44 24 fc"), "rsp 0 rbp ?");
  // mov rdi, -8(rsp); movl $0, -8(rsp): written over
  EXPECT_EQ(stores("48 89 7c 24 f8 c7 44 24 f8 00 00 00 00"), "rsp 0 rbp ?");
}

TEST(ArgumentStores, of_a_truth_value_the_lowest_byte) {
  // and $1, dil; mov rdi, -8(rsp); mov dil, -9(rsp)
  EXPECT_EQ(stores("40 80 e7 01 48 89 7c 24 f8 40 88 7c 24 f7"), "-9:1=7 rsp 0 rbp ?");
  EXPECT_EQ(argument_stores(test::bytes("40 80 e7 01 90")).unchanged[7], 0U);
  // and $1, ah; mov eax, -8(rsp)
  EXPECT_EQ(stores("80 e4 01 89 44 24 f8"), "rsp 0 rbp ?");
}

TEST(ArgumentStores, half_of_the_stack_pointer_is_no_base) {
  // mov rdi, -8(esp)
  EXPECT_EQ(stores("67 48 89 7c 24 f8"), "rsp 0 rbp ?");
}

TEST(ArgumentStores, how_long_registers_are_the_callers) {
  // mov rdi, -8(rsp); mov ecx, edx; ret
  const Prologue prologue = argument_stores(test::bytes("48 89 7c 24 f8 89 ca c3"));
  EXPECT_EQ(prologue.unchanged[7], 7U);
  EXPECT_EQ(prologue.unchanged[2], 5U);
  EXPECT_EQ(prologue.unchanged[1], 7U);
}

TEST(ArgumentStores, ends_where_the_way_may_lead_elsewhere) {
  // mov rdi, -8(rsp); call; mov rsi, -16(rsp)
  EXPECT_EQ(stores("48 89 7c 24 f8 e8 00 00 00 00 48 89 74 24 f0"), "-8:8=7 rsp 0 rbp ?");
  // mov rdi, (rsi); mov rdi, -8(rsp): it might be the stack that is written to
  EXPECT_EQ(stores("48 89 3e 48 89 7c 24 f8"), "rsp 0 rbp ?");
  // and $-16, rsp; mov rdi, (rsp)
  EXPECT_EQ(stores("48 83 e4 f0 48 89 3c 24"), "rsp ? rbp ?");
  EXPECT_EQ(stores("0f"), "rsp 0 rbp ?");
}

}  // namespace
}  // namespace blip::x86
