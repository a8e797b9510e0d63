// SPDX-License-Identifier: MIT
#include "x86/flow/call_numbers.h"

#include <gtest/gtest.h>

#include "x86/test_bytes.h"

namespace blip::x86 {
namespace {

constexpr TargetAddr kBase(0x401000);
using Numbers = std::vector<uint32_t>;

struct Case {
  const char* what;
  const char* code;
  std::vector<Numbers> calls;  // empty: anything
};

const Case kCases[] = {
    {"right before", "b8 0b 00 00 00 0f 05 c3", {{11}}},
    {"some instructions before", "b8 0b 00 00 00 48 89 fe 0f 05 c3", {{11}}},
    {"by way of another register", "41 bf ca 00 00 00 44 89 f8 0f 05 c3", {{202}}},
    {"64 bits", "48 c7 c0 0f 00 00 00 0f 05", {{15}}},
    {"zero", "31 c0 0f 05 c3", {{0}}},
    {"an argument", "48 89 f8 0f 05 c3", {{}}},
    {"a part of the register", "b8 00 00 00 00 b0 0b 0f 05 c3", {{}}},
    {"maybe another", "b8 01 00 00 00 0f 44 c1 0f 05 c3", {{}}},
    {"after a call of a function", "b8 0b 00 00 00 e8 00 00 00 00 0f 05 c3", {{}}},
    // mov r9d, 202; again: mov eax, r9d; syscall; test; jne out; call; out: jmp again
    {"a call that does not come back",
     "41 b9 ca 00 00 00 44 89 c8 0f 05 85 c0 75 05 e8 00 00 00 00 eb f0 c3",
     {{202}}},
    {"after another system call", "b8 0b 00 00 00 0f 05 0f 05 c3", {{11}, {}}},
    {"a register that calls keep", "bb 0b 00 00 00 e8 00 00 00 00 89 d8 0f 05 c3", {{11}}},
    // mov eax, 9; test; je +5; mov eax, 11; syscall
    {"one of two", "b8 09 00 00 00 85 ff 74 05 b8 0b 00 00 00 0f 05 c3", {{9, 11}}},
    // mov eax, 9; jmp to the syscall; mov eax, 11; syscall
    {"a jump straight to the instruction", "b8 09 00 00 00 eb 05 b8 0b 00 00 00 0f 05 c3", {{9, 11}}},
    // mov ebx, 202; again: mov eax, ebx; syscall; test; jne again
    {"around a loop", "bb ca 00 00 00 89 d8 0f 05 85 c0 75 f8 c3", {{202}}},
    // jmp rax; what follows is reached by who knows whom
    {"behind an indirect jump", "bb 0b 00 00 00 ff e0 89 d8 0f 05 c3", {{}}},
    // mov eax, 11; je into the next, where it is or al, 0; mov eax, 12
    {"a jump into an instruction", "b8 0b 00 00 00 74 01 b8 0c 00 00 00 0f 05 c3", {{}}},
    {"a jump over a prefix", "b8 0b 00 00 00 74 01 48 89 c2 0f 05 c3", {{11}}},
    // xbegin, whose abort is told in eax: no mov of a constant to eax
    {"a transaction", "b8 0b 00 00 00 c7 f8 00 00 00 00 0f 05 c3", {{}}},
    // lea rdx, label; jmp rax
    {"a computed goto", "48 8d 15 07 00 00 00 ff e0 b8 0b 00 00 00 0f 05 c3", {{}}},
};

struct EntryCase {
  const char* what;
  size_t entry;  // offset
  const char* code;
  Numbers numbers;
};
const EntryCase kEntryCases[] = {
    {"before the mov", 5, "89 fe 89 fe 90 b8 0b 00 00 00 0f 05 c3", {11}},
    {"behind it", 5, "b8 0b 00 00 00 89 fe 0f 05 c3", {}},
    {"at the instruction", 5, "b8 0b 00 00 00 0f 05 c3", {}},
    {"in an instruction between", 6, "b8 0b 00 00 00 48 89 fe 0f 05 c3", {}},
    {"outside", 100, "b8 0b 00 00 00 0f 05 c3", {11}},
};

TEST(CallNumbers, all_that_may_be_in_eax) {
  for (const Case& c : kCases) {
    const auto calls = find_call_numbers(test::bytes(c.code), kBase, {}).calls;
    ASSERT_EQ(calls.size(), c.calls.size()) << c.what;
    for (size_t i = 0; i < calls.size(); ++i) EXPECT_EQ(calls[i].numbers, c.calls[i]) << c.what;
  }
}

TEST(CallNumbers, where_code_comes_from_elsewhere_nothing_is_known) {
  for (const EntryCase& c : kEntryCases) {
    const TargetAddr entries[] = {kBase + c.entry};
    const auto calls =
        find_call_numbers(test::bytes(c.code), kBase, {.certain = entries, .guessed = {}}).calls;
    ASSERT_EQ(calls.size(), 1u) << c.what;
    EXPECT_EQ(calls[0].numbers, c.numbers) << c.what;
  }
}

TEST(CallNumbers, a_guess_inside_an_instruction_was_wrong) {
  const auto code = test::bytes("b8 0b 00 00 00 89 fe 0f 05 c3");
  const auto numbers_by = [&](size_t offset) {
    const TargetAddr guess[] = {kBase + offset};
    return find_call_numbers(code, kBase, {.certain = {}, .guessed = guess}).calls.at(0).numbers;
  };
  EXPECT_EQ(numbers_by(6), Numbers{11});
  EXPECT_EQ(numbers_by(5), Numbers{});
}

TEST(CallNumbers, bytes_that_only_look_like_one_are_none) {
  const FunctionCalls found = find_call_numbers(test::bytes("b8 0f 05 00 00 c3"), kBase, {});
  EXPECT_TRUE(found.calls.empty());
  EXPECT_FALSE(found.undecodable);
}

TEST(CallNumbers, behind_what_is_no_instruction_there_may_be_others) {
  // 06 is none in 64-bit code; then test eax, 0x50f
  const FunctionCalls found = find_call_numbers(test::bytes("90 06 a9 0f 05 00 00 c3"), kBase, {});
  EXPECT_TRUE(found.calls.empty());
  EXPECT_EQ(found.undecodable, kBase + 1);
}

TEST(CallNumbers, more_code_than_is_followed_has_calls_without_numbers) {
  auto code = test::bytes("b8 0b 00 00 00 0f 05");
  EXPECT_EQ(find_call_numbers(code, kBase, {}).calls.at(0).numbers, Numbers{11});
  code.resize(kMostFollowedCode + 1, 0x90);
  const FunctionCalls found = find_call_numbers(code, kBase, {});
  ASSERT_EQ(found.calls.size(), 1U);
  EXPECT_EQ(found.calls[0].at, kBase + 5);
  EXPECT_EQ(found.calls[0].numbers, Numbers{});
}

}  // namespace
}  // namespace blip::x86
