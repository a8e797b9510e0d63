// SPDX-License-Identifier: MIT
// Runs every snippet of the zoo twice, as it is and with its first instructions replaced by a jump to their
// relocated copy, and compares all registers, flags and memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "base/mapping.h"
#include "x86/code_writer.h"
#include "x86/decode.h"
#include "x86/relocate.h"
#include "x86/test_bytes.h"
#include "x86/test_interior.h"
#include "x86/zoo.h"

namespace blip::x86::test {
namespace {

constexpr size_t kCodeAt = 0x100;  // the snippet, behind the callee
constexpr size_t kCodeRoom = 0x600;
constexpr size_t kDataAt = 0x800;    // rdi, rsi
constexpr size_t kStackAt = 0x1000;  // rsp, rbp
constexpr size_t kPadAt = 0x2000;
constexpr size_t kArenaSize = 0x3000;
constexpr int kRounds = 24;

bool cpu_can_run(std::string_view name) {
  if (name.starts_with("evex"))
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  if (name.starts_with("avx")) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  return true;
}

struct Outcome {
  Registers registers;
  std::vector<uint8_t> memory;  // the arena up to the pad
};

class Zoo : public ::testing::TestWithParam<Snippet> {
 protected:
  void SetUp() override {
    auto arena =
        Mapping::create(kArenaSize, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_TRUE(arena) << arena.error().message();
    arena_ = std::move(*arena);
  }

  uint8_t* code() const { return arena_.data() + kCodeAt; }
  TargetAddr from() const { return TargetAddr(reinterpret_cast<uint64_t>(code())); }

  Registers lay_out(uint32_t seed);
  Outcome run(Registers registers, const uint8_t* entry);
  void compare_window(size_t length, uint32_t seed);
  void expect_same(const Outcome& original, const Outcome& moved, size_t patched);
  std::vector<size_t> window_lengths() const;
  bool interior_is_free(size_t length) const;

  Mapping arena_;
};

// Fills the arena and the registers as the zoo wants them, the rest at random.
Registers Zoo::lay_out(uint32_t seed) {
  std::mt19937_64 random(seed);
  auto* words = reinterpret_cast<uint64_t*>(arena_.data());
  for (size_t i = 0; i < kPadAt / 8; ++i) words[i] = random();
  auto callee = zoo_callee();
  std::memcpy(arena_.data(), callee.data(), callee.size());
  std::memset(code(), 0xcc, kCodeRoom);
  auto callee_at = reinterpret_cast<uint64_t>(arena_.data());
  auto snippet = GetParam().bytes;
  std::memcpy(code(), snippet.data(), snippet.size());
  for (size_t i = 0; i + 8 <= snippet.size(); ++i)
    if (std::memcmp(code() + i, &kCalleeMark, 8) == 0) std::memcpy(code() + i, &callee_at, 8);

  Registers r;
  for (auto& v : r.gpr) v = random() % 2 ? random() : random() % 4;
  r.gpr[kRcx] = seed % 3 ? random() % 5 : random();
  auto pointer = [&](size_t offset) { return callee_at + offset; };
  r.gpr[kRdi] = pointer(kDataAt);
  r.gpr[kRsi] = pointer(kDataAt + 0x400);
  r.gpr[kRbp] = pointer(kStackAt + 0x800);
  r.gpr[kRsp] = pointer(kStackAt + 0x400);
  r.gpr[kR10] = callee_at;
  uint64_t exit = zoo_exit_address();
  std::memcpy(arena_.data() + kStackAt + 0x400, &exit, 8);
  std::memcpy(arena_.data() + kDataAt + 8, &callee_at, 8);
  r.rflags = 0x202 | (random() & kStatusFlags);
  return r;
}

Outcome Zoo::run(Registers registers, const uint8_t* entry) {
  zoo_run(registers, entry);
  return {registers, {arena_.data(), arena_.data() + kPadAt}};
}

void Zoo::expect_same(const Outcome& original, const Outcome& moved, size_t patched) {
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(original.registers.gpr[i], moved.registers.gpr[i]) << "register " << i;
  EXPECT_EQ(original.registers.rflags, moved.registers.rflags);
  auto hide_patch = [&](std::vector<uint8_t> memory) {
    std::fill_n(memory.begin() + kCodeAt, patched, uint8_t{0});
    return memory;
  };
  auto a = hide_patch(original.memory);
  auto b = hide_patch(moved.memory);
  auto [first, second] = std::mismatch(a.begin(), a.end(), b.begin());
  EXPECT_EQ(first, a.end()) << "memory differs at " << first - a.begin();
}

// Whole instructions from the start, as many as there are in one run.
std::vector<size_t> Zoo::window_lengths() const {
  std::vector<size_t> lengths;
  auto snippet = GetParam().bytes;
  for (size_t at = 0; at < snippet.size();) {
    auto insn = decode(snippet.subspan(at), TargetAddr(at));
    if (!insn) break;
    at += insn->length;
    lengths.push_back(at);
    if (insn->ends_flow()) break;
  }
  return lengths;
}

bool Zoo::interior_is_free(size_t length) const {
  std::span<const uint8_t> text(code(), GetParam().bytes.size());
  return !is_entered(text, from(), {}, {from(), from() + length});
}

void Zoo::compare_window(size_t length, uint32_t seed) {
  Outcome original = run(lay_out(seed), code());
  Registers registers = lay_out(seed);
  uint8_t* pad = arena_.data() + kPadAt;
  TargetAddr to(reinterpret_cast<uint64_t>(pad));
  auto moved = relocate({code(), length}, from(), to);
  if (!moved) return;
  CodeWriter copy(to);
  copy.u8s(std::span<const uint8_t>(moved->bytes));
  if (moved->falls_through) {
    copy.u8(0xe9);
    copy.u32(static_cast<uint32_t>(*displacement(copy.here() + 4, from() + length)));
  }
  auto bytes = copy.take();
  std::memset(pad, 0xcc, 0x200);
  std::memcpy(pad, bytes.data(), bytes.size());
  bool patch = length >= kJumpLength && interior_is_free(length);
  if (patch) {
    std::memset(code(), 0xcc, length);
    auto rel = *displacement(from() + kJumpLength, to);
    code()[0] = 0xe9;
    std::memcpy(code() + 1, &rel, sizeof rel);
  }
  SCOPED_TRACE(fmt::format("window of {} bytes, seed {}, copy {}", length, seed, text(moved->bytes)));
  expect_same(original, run(registers, patch ? code() : pad), patch ? length : 0);
}

TEST_P(Zoo, copy_does_the_same) {
  if (!cpu_can_run(GetParam().name)) GTEST_SKIP() << "this CPU cannot";
  for (size_t length : window_lengths())
    for (int round = 0; round < kRounds && !HasFailure(); ++round)
      compare_window(length, static_cast<uint32_t>(length * 1000 + round));
}

INSTANTIATE_TEST_SUITE_P(All, Zoo, ::testing::ValuesIn(zoo()),
                         [](const auto& p) { return std::string(p.param.name); });

// The comparison above skips what relocate refuses; these are all.
TEST(ZooRefusals, only_the_expected) {
  std::vector<std::string> refused;
  for (const Snippet& snippet : zoo()) {
    for (size_t at = 0; at < snippet.bytes.size();) {
      auto insn = decode(snippet.bytes.subspan(at), TargetAddr(at));
      ASSERT_TRUE(insn) << snippet.name;
      if (!relocate(snippet.bytes.subspan(at, insn->length), TargetAddr(0x1000), TargetAddr(0x2000)))
        refused.push_back(fmt::format("{}: {}", snippet.name, insn->mnemonic));
      at += insn->length;
      if (insn->ends_flow()) break;
    }
  }
  EXPECT_EQ(refused, std::vector<std::string>{});
}

}  // namespace
}  // namespace blip::x86::test
