// SPDX-License-Identifier: MIT
// Tests how much of real code the ladder reaches, and that no branch is missed on the way.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "x86/flow/syscall_sites.h"
#include "x86/ladder.h"
#include "x86/test_elf.h"
#include "x86/test_interior.h"

namespace blip::x86::test {
namespace {

// This share is reached without jump tables and landing pads, which the layer above finds. Where a function
// jumps through a table, its cases look like code that nobody reaches.
constexpr double kMustReach = 0.995;
constexpr TargetAddr kLoadedAt(0x7f1234560000);
const char kLibc[] = "/lib/x86_64-linux-gnu/libc.so.6";

struct Module {
  explicit Module(const TextOfFile& file) : map(file.text, kLoadedAt) {
    for (const auto& f : file.functions) {
      const TargetAddr start = kLoadedAt + (f.addr - file.base);
      starts.push_back(start);
      functions.push_back({start, start + f.size});
    }
    map.decode(functions, starts);
    map.scan(file.text, kLoadedAt, starts);
    map.finish();
    const TargetAddr end(kLoadedAt.value + (file.text.size() | 0xfff) + 1);
    space = TrampolineSpace({{TargetAddr(0x10000), kLoadedAt}, {end, TargetAddr(0x7fffffff0000)}}, 4096);
    for (const AddrRange& f : functions)
      for (TargetAddr a = f.begin; a < f.end; a = a + 1)
        if (map.length(a) && map.is_reached(a)) heads.push_back(a);
  }

  CodeMap map;
  std::vector<TargetAddr> starts;
  std::vector<AddrRange> functions;
  std::vector<TargetAddr> heads;
  TrampolineSpace space;
};

std::string summary(const std::vector<Verdict>& verdicts) {
  size_t steps[kStepCount] = {}, refused = 0;
  for (const Verdict& v : verdicts) v.refusal.empty() ? ++steps[static_cast<size_t>(v.step)] : ++refused;
  std::string text = fmt::format("{} instructions, {} refused, by step:", verdicts.size(), refused);
  for (size_t n : steps) text += fmt::format(" {}", n);
  return text;
}

void expect_reached(const std::vector<Verdict>& verdicts) {
  const auto armed =
      std::count_if(verdicts.begin(), verdicts.end(), [](const Verdict& v) { return v.refusal.empty(); });
  std::printf("%s\n", summary(verdicts).c_str());
  EXPECT_GE(static_cast<double>(armed), kMustReach * static_cast<double>(verdicts.size()));
}

TEST(LadderOfLibc, each_instruction_alone) {
  const auto file = text_of_file(kLibc, FunctionsFrom::kUnwindTable);
  if (file.text.empty()) GTEST_SKIP() << "no libc.so.6 at the usual place";
  Module module(file);
  const Ladder ladder(module.map, {}, module.space);
  std::vector<Verdict> verdicts;
  for (TargetAddr a : module.heads) verdicts.push_back(ladder.alone(a));
  EXPECT_GT(verdicts.size(), 250000u);
  expect_reached(verdicts);
}

// The changes of a plan must fit together: no two rewrites share a byte, and no other change than a planned
// one touches a jump's bytes.
TEST(LadderOfLibc, all_instructions_together) {
  const auto file = text_of_file(kLibc, FunctionsFrom::kUnwindTable);
  if (file.text.empty()) GTEST_SKIP() << "no libc.so.6 at the usual place";
  Module module(file);
  Ladder ladder(module.map, {}, module.space);
  const LadderPlan plan = ladder.plan(module.heads);
  expect_reached(plan.verdicts);
  for (size_t i = 1; i < plan.rewrites.size(); ++i)
    ASSERT_LE(plan.rewrites[i - 1].end(), plan.rewrites[i].start);
  for (size_t i = 0; i < module.heads.size(); ++i) {
    const Verdict& v = plan.verdicts[i];
    if (!v.refusal.empty()) continue;
    const Rewrite& r = plan.rewrites[v.rewrite];
    ASSERT_EQ(r.start + v.offset, module.heads[i]);
    const bool is_behind = module.map.is_system_call(module.heads[i]);
    ASSERT_LT(v.offset, r.length + (is_behind ? 1 : 0));
  }
}

// The scans look at bytes; a full decode of every function is the other way to find the branches.
TEST(BranchScanOfLibc, no_branch_that_decoding_finds_is_missed) {
  auto file = text_of_file(kLibc, FunctionsFrom::kUnwindTable);
  if (file.text.empty()) GTEST_SKIP() << "no libc.so.6 at the usual place";
  const auto starts = file.starts();
  std::vector<TargetAddr> scanned, decoded;
  const BranchFilter any = [&](const Branch& b) {
    return b.target >= file.base && b.target < file.base + file.text.size();
  };
  for (const Branch& b : near_branches(file.text, file.base, starts, any)) scanned.push_back(b.target);
  for (const Branch& b :
       short_branches(file.text, file.base, starts, {file.base, file.base + file.text.size()}, any))
    scanned.push_back(b.target);
  for (size_t i = 0; i < file.functions.size(); ++i) {
    auto function = file.bytes_of(i);
    for (size_t at = 0; at < function.bytes.size();) {
      auto insn = decode(function.bytes.subspan(at), function.addr + at);
      if (!insn) break;
      if (insn->target && any({insn->addr, *insn->target})) decoded.push_back(*insn->target);
      at += insn->length;
    }
  }
  for (auto* targets : {&scanned, &decoded}) {
    std::sort(targets->begin(), targets->end());
    targets->erase(std::unique(targets->begin(), targets->end()), targets->end());
  }
  EXPECT_TRUE(std::includes(scanned.begin(), scanned.end(), decoded.begin(), decoded.end()));
  EXPECT_GT(decoded.size(), 10000u);
  EXPECT_LE(scanned.size(), decoded.size() + decoded.size() / 20);
}

TEST(CloneCallsOfLibc, flags_are_dead_behind_each) {
  auto file = text_of_file(kLibc, FunctionsFrom::kSymbols);
  if (file.text.empty()) GTEST_SKIP() << "no libc.so.6 at the usual place";
  auto sites = find_clone_sites(file.text, file.base);
  EXPECT_GE(sites.size(), 3u);
  for (const SyscallSite& site : sites) EXPECT_TRUE(site.flags_dead_after) << std::hex << site.addr.value;
}

}  // namespace
}  // namespace blip::x86::test
