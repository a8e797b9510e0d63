// SPDX-License-Identifier: MIT
#include "x86/call_numbers.h"

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
};

TEST(CallNumbers, all_that_may_be_in_eax) {
  for (const Case& c : kCases) {
    const auto calls = find_call_numbers(test::bytes(c.code), kBase);
    ASSERT_EQ(calls.size(), c.calls.size()) << c.what;
    for (size_t i = 0; i < calls.size(); ++i) EXPECT_EQ(calls[i].numbers, c.calls[i]) << c.what;
  }
}

TEST(CallNumbers, bytes_that_only_look_like_one_are_none) {
  EXPECT_TRUE(find_call_numbers(test::bytes("b8 0f 05 00 00 c3"), kBase).empty());
}

}  // namespace
}  // namespace blip::x86
