// SPDX-License-Identifier: MIT
// Relocates windows from all over a real text and reads the copies back: every instruction must say the same
// as the original, with the same absolute addresses.
#include <Zydis/Zydis.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "x86/decode.h"
#include "x86/relocate.h"
#include "x86/test_bytes.h"
#include "x86/test_elf.h"

namespace blip::x86::test {
namespace {

// "mov rax, [0x1234]": rip-relative operands and branch targets print as absolute addresses. `rsp_moved`:
// what to add to the displacement from rsp.
std::string disassemble(std::span<const uint8_t> code, TargetAddr at, int64_t rsp_moved = 0) {
  ZydisDisassembledInstruction insn;
  if (!ZYAN_SUCCESS(
          ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, at.value, code.data(), code.size(), &insn)))
    return "(none)";
  if (rsp_moved == 0 || insn.operands[0].mem.base != ZYDIS_REGISTER_RSP) return insn.text;
  insn.operands[0].mem.disp.value += rsp_moved;
  insn.operands[0].mem.disp.has_displacement = true;
  ZydisFormatter formatter;
  ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
  char text[96] = "";
  ZydisFormatterFormatInstruction(&formatter, &insn.info, insn.operands, insn.info.operand_count_visible,
                                  text, sizeof text, at.value, nullptr);
  return text;
}

class Reader {
 public:
  Reader(std::span<const uint8_t> window, TargetAddr from, const Relocated& moved, TargetAddr to)
      : window_(window), from_(from), moved_(moved), to_(to) {}

  void expect_same() const {
    for (auto [original, copy] : moved_.heads) {
      auto insn = decode(window_.subspan(original), from_ + original);
      ASSERT_TRUE(insn);
      EXPECT_EQ(expected(*insn), actual(*insn, copy)) << text({window_.begin(), window_.end()});
    }
  }

 private:
  TargetAddr goal(TargetAddr target) const {
    for (auto [original, copy] : moved_.heads)
      if (original > 0 && target == from_ + original) return to_ + copy;
    return target;
  }
  std::span<const uint8_t> copy_at(size_t offset) const { return std::span(moved_.bytes).subspan(offset); }

  std::string expected(const Insn& insn) const {
    const int64_t pushed = insn.flow == Flow::kIndirectCall ? 8 : 0;
    auto original = disassemble(window_.subspan(insn.addr - from_, insn.length), insn.addr, pushed);
    switch (insn.flow) {
      case Flow::kJump:
      case Flow::kCondJump:
        return fmt::format("{} {:#x}", insn.mnemonic, goal(*insn.target).value);
      case Flow::kCall:
        return fmt::format("push {:#x}; jmp {:#x}", insn.end().value, goal(*insn.target).value);
      case Flow::kIndirectCall:
        return fmt::format("push {:#x}; {}", insn.end().value, replaced(original, "call", "jmp"));
      default:
        return original;
    }
  }

  std::string actual(const Insn& insn, size_t at) const {
    switch (insn.flow) {
      case Flow::kJump:
        return branch(at);
      case Flow::kCondJump:
        return insn.is_loop_or_jrcxz ? expanded_loop(at) : branch(at);
      case Flow::kCall: {
        auto [address, next] = pushed(at);
        return fmt::format("push {:#x}; {}", address, branch(next));
      }
      case Flow::kIndirectCall: {
        auto [address, next] = pushed(at);
        return fmt::format("push {:#x}; {}", address, disassemble(copy_at(next), to_ + next));
      }
      default:
        return disassemble(copy_at(at), to_ + at);
    }
  }

  std::string branch(size_t at) const {
    auto insn = decode(copy_at(at), to_ + at);
    if (!insn || !insn->target) return "(no branch)";
    return fmt::format("{} {:#x}", insn->mnemonic, insn->target->value);
  }

  // loop 1f; jmp 2f; 1: jmp target; 2:
  std::string expanded_loop(size_t at) const {
    auto insn = decode(copy_at(at), to_ + at);
    if (!insn || insn->target != insn->end() + 2) return "(no loop)";
    auto goes_on = decode(copy_at(at + insn->length), insn->end());
    if (!goes_on || goes_on->target != goes_on->end() + 5) return "(no way past the loop)";
    auto jump = decode(copy_at(at + insn->length + 2), goes_on->end());
    if (!jump || jump->flow != Flow::kJump) return "(no jump)";
    return fmt::format("{} {:#x}", insn->mnemonic, jump->target->value);
  }

  // The address left on the stack by push [; mov dword [rsp+4]], and the offset behind.
  std::pair<uint64_t, size_t> pushed(size_t at) const {
    int32_t low;
    std::memcpy(&low, &moved_.bytes[at + 1], sizeof low);
    auto address = static_cast<uint64_t>(int64_t{low});
    if (moved_.bytes[at] != 0x68 || moved_.bytes[at + 5] != 0xc7) return {address, at + 5};
    uint32_t high;
    std::memcpy(&high, &moved_.bytes[at + 9], sizeof high);
    return {static_cast<uint32_t>(low) | uint64_t{high} << 32, at + 13};
  }

  static std::string replaced(std::string in, std::string_view what, std::string_view with) {
    auto at = in.find(what);
    return at == std::string::npos ? in : in.replace(at, what.size(), with);
  }

  std::span<const uint8_t> window_;
  TargetAddr from_;
  const Relocated& moved_;
  TargetAddr to_;
};

TEST(RelocateLibc, copies_say_the_same) {
  auto file = text_of_file("/lib/x86_64-linux-gnu/libc.so.6", FunctionsFrom::kUnwindTable);
  if (file.text.empty()) GTEST_SKIP() << "no libc.so.6 at the usual place";
  std::mt19937_64 random(7);
  size_t moved_count = 0, refused_count = 0;
  constexpr uint64_t kLoadedAt = 0x7f1234400000;
  for (size_t f = 0; f < file.functions.size() && !::testing::Test::HasFailure(); ++f) {
    auto function = file.bytes_of(f);
    std::vector<size_t> heads;
    for (size_t at = 0; at < function.bytes.size();) {
      auto insn = decode(function.bytes.subspan(at), TargetAddr(at));
      if (!insn) break;
      heads.push_back(at);
      at += insn->length;
    }
    for (size_t i = 0; i + 4 < heads.size(); i += 1 + random() % 8) {
      size_t count = 1 + random() % 3;
      auto window = function.bytes.subspan(heads[i], heads[i + count] - heads[i]);
      TargetAddr from(kLoadedAt + function.addr.value + heads[i]);
      TargetAddr to(from.value + random() % 0x80000000 - 0x40000000);
      auto moved = relocate(window, from, to);
      if (!moved) {
        ++refused_count;
        continue;
      }
      ++moved_count;
      Reader(window, from, *moved, to).expect_same();
    }
  }
  std::printf("%zu windows moved, %zu refused\n", moved_count, refused_count);
  EXPECT_GT(moved_count, 5 * refused_count);
}

}  // namespace
}  // namespace blip::x86::test
