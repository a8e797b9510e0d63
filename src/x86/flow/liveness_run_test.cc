// SPDX-License-Identifier: MIT
// Runs random programs with everything overwritten that is said to be dead before one of their instructions:
// what they leave must be the same.
#include <gtest/gtest.h>

#include "x86/flow/liveness.h"
#include "x86/test_random_program.h"

namespace blip::x86::test {
namespace {

std::vector<Insn> decode_all(std::span<const uint8_t> code, TargetAddr base) {
  std::vector<Insn> insns;
  for (size_t at = 0; at < code.size(); at += insns.back().length) {
    auto insn = decode(code.subspan(at), base + at);
    if (!insn) break;
    insns.push_back(*insn);
  }
  return insns;
}

class Scrambler {
 public:
  Scrambler(TargetAddr at, std::mt19937_64& random) : out_(at), random_(random) {}

  // Random values into the registers and the other value into the flags that are dead.
  void scramble(const Liveness& live) {
    if (const uint32_t dead = kStatusFlags & ~live.flags) {
      out_.u8s({0x48, 0x8d, 0x64, 0x24, 0x80});  // lea rsp, [rsp-128]
      out_.u8(0x9c);                             // pushfq
      out_.u8s({0x81, 0x34, 0x24});              // xor dword [rsp], dead
      out_.u32(dead);
      out_.u8(0x9d);                       // popfq
      out_.u8s({0x48, 0x8d, 0xa4, 0x24});  // lea rsp, [rsp+128]
      out_.u32(128);
    }
    for (unsigned r = 0; r < 16; ++r) {
      if (live.registers >> r & 1) continue;
      out_.u8s({static_cast<uint8_t>(r < 8 ? 0x48 : 0x49), static_cast<uint8_t>(0xb8 | (r & 7))});
      out_.u64(random_());  // mov r64, imm64
    }
  }

  void copy(std::span<const uint8_t> item, TargetAddr from) {
    auto moved = relocate(item, from, out_.here());
    ASSERT_TRUE(moved) << moved.error().message();
    out_.u8s(std::span<const uint8_t>(moved->bytes));
    out_.u8(0xe9);  // jmp back
    out_.u32(static_cast<uint32_t>(*displacement(out_.here() + 4, from + item.size())));
  }

  std::vector<uint8_t> take() { return out_.take(); }

 private:
  CodeWriter out_;
  std::mt19937_64& random_;
};

TEST(LivenessRun, what_is_dead_does_not_matter) {
  constexpr int kPrograms = 3000;
  std::mt19937_64 random(random_seed());
  Machine machine;
  RandomCode code(random);
  size_t runs = 0, dead_registers = 0, dead_flags = 0;
  for (int n = 0; n < kPrograms && !HasFailure(); ++n) {
    RandomProgram program(machine, code, random, 1 + random() % 12);
    const auto insns = decode_all(program.bytes(), program.addr());
    const auto live = live_at_each(insns, LivenessRule::kInside);
    const Outcome original = program.run();
    for (size_t i = 0; i < program.items().size(); ++i) {
      const auto& item = program.items()[i];
      const TargetAddr from = program.addr() + item.offset;
      const auto insn = std::find_if(insns.begin(), insns.end(), [&](auto& x) { return x.addr == from; });
      ASSERT_NE(insn, insns.end());
      const Liveness& here = live[static_cast<size_t>(insn - insns.begin())];
      if (here == Liveness{}) continue;
      Scrambler scrambler(Machine::addr(machine.pads().data()), random);
      scrambler.scramble(here);
      scrambler.copy(program.bytes().subspan(item.offset, item.length), from);
      const auto bytes = scrambler.take();
      std::copy(bytes.begin(), bytes.end(), machine.pads().begin());
      const Outcome moved = program.run([&] { program.lead_to(i, Machine::addr(machine.pads().data())); });
      EXPECT_EQ(program.difference(original, moved), "") << "at " << i << " of\n" << program.listing();
      ++runs;
      dead_registers += static_cast<size_t>(__builtin_popcount(static_cast<uint16_t>(~here.registers)));
      dead_flags += here.flags == 0;
    }
  }
  fmt::print("{} runs, {} dead registers, flags dead at {}\n", runs, dead_registers, dead_flags);
  EXPECT_GT(dead_registers, 1000u);
  EXPECT_GT(dead_flags, 1000u);
}

}  // namespace
}  // namespace blip::x86::test
