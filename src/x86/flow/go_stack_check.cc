// SPDX-License-Identifier: MIT
#include "x86/flow/go_stack_check.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "x86/decode.h"

namespace blip::x86 {
namespace {

using Bytes = std::span<const uint8_t>;

bool begins_with(Bytes code, std::initializer_list<uint8_t> prefix) {
  return code.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), code.begin());
}

// mov %fs:-8, %rcx
size_t load_g(Bytes code) {
  return begins_with(code, {0x64, 0x48, 0x8b, 0x0c, 0x25, 0xf8, 0xff, 0xff, 0xff}) ? 9 : 0;
}

// lea -frame(%rsp), %r12 (%r13 in Go 1.17, %rax before), with a displacement of 1 or 4 bytes.
size_t lea_frame(Bytes code) {
  for (const auto& [rex, reg] : {std::array<uint8_t, 2>{0x4c, 4}, {0x4c, 5}, {0x48, 0}}) {
    const auto modrm = [reg = reg](int mod) { return static_cast<uint8_t>(mod << 6 | reg << 3 | 4); };
    if (begins_with(code, {rex, 0x8d, modrm(1), 0x24})) return 5;
    if (begins_with(code, {rex, 0x8d, modrm(2), 0x24})) return 8;
  }
  return 0;
}

// cmp 0x10(g), %rsp or the register of lea_frame; g is %r14 or %rcx. 0x18 is the guard of the system stack.
size_t compare_guard(Bytes code) {
  constexpr std::array<std::array<uint8_t, 3>, 6> kForms = {{{0x49, 0x3b, 0x66},    // (%r14), %rsp
                                                             {0x4d, 0x3b, 0x66},    // (%r14), %r12
                                                             {0x4d, 0x3b, 0x6e},    // (%r14), %r13
                                                             {0x48, 0x3b, 0x61},    // (%rcx), %rsp
                                                             {0x4c, 0x3b, 0x61},    // (%rcx), %r12
                                                             {0x48, 0x3b, 0x41}}};  // (%rcx), %rax
  for (const auto& form : kForms)
    if (begins_with(code, {form[0], form[1], form[2]}) && code.size() > 3 &&
        (code[3] == 0x10 || code[3] == 0x18))
      return 4;
  return 0;
}

size_t jump_if_below(Bytes code) {
  if (begins_with(code, {0x76})) return 2;
  return begins_with(code, {0x0f, 0x86}) ? 6 : 0;
}

}  // namespace

std::optional<GoStackCheck> go_stack_check(Bytes function) {
  size_t at = load_g(function);
  const size_t lea = lea_frame(function.subspan(at));
  const size_t first = at != 0 ? at : lea;
  at += lea;
  const size_t compare = compare_guard(function.subspan(std::min(at, function.size())));
  if (compare == 0) return std::nullopt;
  at += compare;
  const size_t jump = jump_if_below(function.subspan(std::min(at, function.size())));
  if (jump == 0 || at + jump > function.size()) return std::nullopt;
  at += jump;
  return GoStackCheck{.length = static_cast<uint8_t>(at),
                      .replaceable = static_cast<uint8_t>(first != 0 ? first : at)};
}

}  // namespace blip::x86
