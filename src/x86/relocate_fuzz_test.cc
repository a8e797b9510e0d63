// SPDX-License-Identifier: MIT
// Moves random instructions of all encodings and reads the copies back: same mnemonic, same operands, same
// absolute addresses.
#include <gtest/gtest.h>

#include "x86/relocate.h"
#include "x86/test_bytes.h"
#include "x86/test_random_program.h"

namespace blip::x86::test {
namespace {

struct Full {
  ZydisDecodedInstruction insn;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  bool valid = false;
};

Full decode_full(std::span<const uint8_t> bytes) {
  static const ZydisDecoder decoder = [] {
    ZydisDecoder d;
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return d;
  }();
  Full f;
  f.valid = ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(), &f.insn, f.operands));
  return f;
}

uint64_t absolute(const Full& f, const ZydisDecodedOperand& o, TargetAddr at) {
  ZyanU64 address = 0;
  ZydisCalcAbsoluteAddress(&f.insn, &o, at.value, &address);
  return address;
}

std::string memory_text(const Full& f, const ZydisDecodedOperand& o, TargetAddr at) {
  const bool from_rip = o.mem.base == ZYDIS_REGISTER_RIP;
  return fmt::format("{}:[{}+{}*{}+{:#x}] type {}", static_cast<int>(o.mem.segment),
                     static_cast<int>(o.mem.base), static_cast<int>(o.mem.index), o.mem.scale,
                     from_rip ? absolute(f, o, at) : static_cast<uint64_t>(o.mem.disp.value),
                     static_cast<int>(o.mem.type));
}

std::string operand_text(const Full& f, const ZydisDecodedOperand& o, TargetAddr at) {
  switch (o.type) {
    case ZYDIS_OPERAND_TYPE_REGISTER:
      return ZydisRegisterGetString(o.reg.value);
    case ZYDIS_OPERAND_TYPE_MEMORY:
      return memory_text(f, o, at);
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
      return fmt::format("{:#x}", o.imm.is_relative ? absolute(f, o, at) : o.imm.value.u);
    default:
      return "?";
  }
}

// Everything that an instruction at `at` means. Branches may change their form.
std::string meaning(std::span<const uint8_t> bytes, TargetAddr at) {
  const Full f = decode_full(bytes);
  if (!f.valid) return "(none)";
  constexpr uint64_t kPrefixes = ZYDIS_ATTRIB_HAS_LOCK | ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPNE;
  std::string text = fmt::format("{} prefixes {:#x}", ZydisMnemonicGetString(f.insn.mnemonic),
                                 f.insn.attributes & kPrefixes);
  const bool is_branch = f.insn.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE;
  if (!is_branch) text += fmt::format(" width {} {}", f.insn.operand_width, f.insn.address_width);
  text += fmt::format(" avx {} {} {} {}", static_cast<int>(f.insn.avx.vector_length),
                      static_cast<int>(f.insn.avx.mask.mode), static_cast<int>(f.insn.avx.mask.reg),
                      static_cast<int>(f.insn.avx.rounding.mode));
  for (unsigned i = 0; i < f.insn.operand_count; ++i)
    text += fmt::format("; {} {} {}", operand_text(f, f.operands[i], at), f.operands[i].actions,
                        is_branch ? 0 : f.operands[i].size);
  return text;
}

TargetAddr somewhere_near(TargetAddr from, std::mt19937_64& random) {
  return TargetAddr(from.value + random() % 0x7000'0000 - 0x3800'0000);
}

TEST(RelocateFuzz, copies_mean_the_same) {
  constexpr int kInsns = 60000;
  std::mt19937_64 random(random_seed());
  RandomCode code(random);
  constexpr TargetAddr kFrom(0x7f12'3456'7890);
  const CodeContext context{.data = kFrom + 0x1000};
  std::map<std::string_view, size_t> kinds;
  size_t from_rip = 0;
  for (int n = 0; n < kInsns && !HasFailure(); ++n) {
    const auto bytes = code.next(kFrom, context);
    const TargetAddr to = somewhere_near(kFrom, random);
    const auto moved = relocate(bytes, kFrom, to);
    ASSERT_TRUE(moved) << text(bytes) << moved.error().message();
    EXPECT_EQ(meaning(bytes, kFrom), meaning(moved->bytes, to)) << text(bytes);
    EXPECT_EQ(moved->bytes.size(), bytes.size());
    const auto insn = decode(bytes, kFrom);
    ++kinds[insn->mnemonic];
    from_rip += insn->rip_relative;
  }
  fmt::print("{} instructions of {} kinds, {} relative to rip\n", kInsns, kinds.size(), from_rip);
  EXPECT_GT(kinds.size(), 700u);
  EXPECT_GT(from_rip, kInsns / 20u);
}

// Any bytes are either refused, or moved so that the copy decodes and ends where it should.
TEST(RelocateFuzz, any_bytes_are_refused_or_moved_whole) {
  constexpr int kWindows = 200000;
  std::mt19937_64 random(random_seed());
  constexpr TargetAddr kFrom(0x7f12'3456'7890);
  size_t moved_count = 0;
  for (int n = 0; n < kWindows && !HasFailure(); ++n) {
    std::vector<uint8_t> window(1 + random() % 20);
    for (uint8_t& b : window) b = static_cast<uint8_t>(random());
    const TargetAddr to = somewhere_near(kFrom, random);
    const auto moved = relocate(window, kFrom, to);
    if (!moved) continue;
    ++moved_count;
    for (size_t i = 0; i < moved->heads.size(); ++i) {
      const auto [offset, copy] = moved->heads[i];
      const size_t next = i + 1 < moved->heads.size() ? moved->heads[i + 1].second : moved->bytes.size();
      ASSERT_LT(copy, next) << text(window);
      for (size_t at = copy; at < next;) {
        const auto insn = decode(std::span(moved->bytes).subspan(at), to + at);
        ASSERT_TRUE(insn) << text(window);
        at += insn->length;
        ASSERT_LE(at, next) << text(window);
      }
      const auto original = decode(std::span(window).subspan(offset), kFrom + offset);
      const auto first = std::span(window).subspan(offset, original->length);
      if (original->flow != Flow::kNext || original->lea_width) continue;
      EXPECT_EQ(meaning(first, original->addr), meaning(std::span(moved->bytes).subspan(copy), to + copy));
    }
  }
  fmt::print("{} of {} windows moved\n", moved_count, kWindows);
  EXPECT_GT(moved_count, kWindows / 20u);
}

}  // namespace
}  // namespace blip::x86::test
