// SPDX-License-Identifier: MIT
// How much of real programs the ladder's steps (a) to (c) reach, and how fast the proof is.
#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <regex>

#include "x86/branch_scan.h"
#include "x86/syscall_sites.h"
#include "x86/test_bytes.h"
#include "x86/test_elf.h"
#include "x86/window.h"

namespace blip::x86::test {
namespace {

constexpr double kMustAccept = 0.97;

// Of this thread's CPU time: other programs may be busy.
double milliseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

struct Coverage {
  size_t functions = 0;
  size_t accepted = 0;
  std::map<std::string, size_t> steps;
  std::map<std::string, size_t> refusals;
  size_t flags_live = 0, self_branch = 0;
  double plan_ms = 0, near_ms = 0, short_ms = 0;
};

std::string without_addresses(const std::string& reason) {
  static const std::regex address(" at 0x[0-9a-f]+");
  return std::regex_replace(reason, address, "");
}

const char* name_of(Step step) {
  return step == Step::kNop ? "nop" : step == Step::kSingle ? "single" : "window";
}

void prove(const TextOfFile& file, const std::vector<Window>& windows, Coverage& c) {
  auto starts = file.starts();
  InteriorSet set(windows);
  for (TargetAddr entry : starts) set.hit(entry, "a function");
  double start = milliseconds();
  scan_branches(file.text, file.base, starts, set);
  c.near_ms = milliseconds() - start;
  start = milliseconds();
  scan_short_branches(file.text, file.base, starts, set);
  c.short_ms = milliseconds() - start;
  for (size_t i = 0; i < set.size(); ++i) {
    if (!set.refused(i)) continue;
    --c.accepted;
    --c.steps[name_of(windows[i].step)];
    ++c.refusals[without_addresses(set.reason(i))];
  }
}

Coverage cover(const TextOfFile& file) {
  Coverage c;
  c.functions = file.functions.size();
  std::vector<Window> to_prove;
  double start = milliseconds();
  for (size_t i = 0; i < file.functions.size(); ++i) {
    auto window = entry_window(file.bytes_of(i));
    if (!window) {
      ++c.refusals[without_addresses(window.error().message())];
      continue;
    }
    ++c.accepted;
    ++c.steps[name_of(window->step)];
    c.flags_live += window->flags_live;
    c.self_branch += window->self_branch;
    if (window->needs_proof) to_prove.push_back(*window);
  }
  c.plan_ms = milliseconds() - start;
  prove(file, to_prove, c);
  return c;
}

void print(const std::string& name, const TextOfFile& file, const Coverage& c) {
  std::string out = fmt::format("{}: {} of {} functions ({:.2f} %)", name, c.accepted, c.functions,
                                100.0 * static_cast<double>(c.accepted) / static_cast<double>(c.functions));
  for (const auto& [step, n] : c.steps) out += fmt::format(", {} {}", step, n);
  out += fmt::format("; flags live {}, self branch {}\n", c.flags_live, c.self_branch);
  out += fmt::format(
      "  plan {:.1f} ms, near scan {:.1f} ms ({:.2f} ns/byte of {:.1f} MB), short scan {:.1f} ms\n",
      c.plan_ms, c.near_ms, c.near_ms * 1e6 / static_cast<double>(file.text.size()),
      static_cast<double>(file.text.size()) / 1e6, c.short_ms);
  for (const auto& [reason, n] : c.refusals) out += fmt::format("  {:5} {}\n", n, reason);
  std::fputs(out.c_str(), stdout);
}

void expect_covered(const std::string& path, FunctionsFrom source) {
  auto file = text_of_file(path, source);
  if (file.functions.empty()) GTEST_SKIP() << path << " is not there, or has no such table";
  auto c = cover(file);
  print(path + (source == FunctionsFrom::kSymbols ? " (symbols)" : " (unwind table)"), file, c);
  EXPECT_GE(static_cast<double>(c.accepted), kMustAccept * static_cast<double>(c.functions));
}

const char kLibc[] = "/lib/x86_64-linux-gnu/libc.so.6";

TEST(Coverage, libc_symbols) { expect_covered(kLibc, FunctionsFrom::kSymbols); }
TEST(Coverage, libc_unwind_table) { expect_covered(kLibc, FunctionsFrom::kUnwindTable); }
TEST(Coverage, this_test_program) {
#ifdef __clang__
#if __has_feature(undefined_behavior_sanitizer)
  GTEST_SKIP() << "clang's -fsanitize=function begins functions with a short jump over data";
#endif
#endif
  expect_covered("/proc/self/exe", FunctionsFrom::kSymbols);
}
TEST(Coverage, python_symbols) { expect_covered("/usr/bin/python3", FunctionsFrom::kSymbols); }
TEST(Coverage, python_unwind_table) { expect_covered("/usr/bin/python3", FunctionsFrom::kUnwindTable); }
TEST(Coverage, gdb_symbols) { expect_covered("/usr/bin/gdb", FunctionsFrom::kSymbols); }
TEST(Coverage, gdb_unwind_table) { expect_covered("/usr/bin/gdb", FunctionsFrom::kUnwindTable); }

// The scans look at bytes; a full decode of every function is the other way to find the branches.
TEST(BranchScanOfLibc, no_branch_that_decoding_finds_is_missed) {
  auto file = text_of_file(kLibc, FunctionsFrom::kUnwindTable);
  if (file.text.empty()) GTEST_SKIP() << "no libc.so.6 at the usual place";
  // A window of 8 bytes at every function and in the middle of it: many are entered inside.
  std::vector<Window> windows;
  for (const auto& f : file.functions)
    for (uint64_t at : {uint64_t{0}, f.size / 2}) windows.push_back({.start = f.addr + at, .length = 8});
  auto starts = file.starts();
  InteriorSet set(windows);
  scan_branches(file.text, file.base, starts, set);
  scan_short_branches(file.text, file.base, starts, set);
  InteriorSet decoded(windows);
  for (size_t i = 0; i < file.functions.size(); ++i) {
    auto function = file.bytes_of(i);
    for (size_t at = 0; at < function.bytes.size();) {
      auto insn = decode(function.bytes.subspan(at), function.addr + at);
      if (!insn) break;
      if (insn->target) decoded.hit(*insn->target, insn->addr, "a branch");
      at += insn->length;
    }
  }
  size_t real = 0, reported = 0;
  for (size_t i = 0; i < windows.size(); ++i) {
    real += decoded.refused(i);
    reported += set.refused(i);
    EXPECT_LE(decoded.refused(i), set.refused(i)) << decoded.reason(i);
  }
  std::printf("%zu windows, %zu entered inside by decoding, %zu by the scans\n", windows.size(), real,
              reported);
  EXPECT_GT(real, 100u);
  EXPECT_LE(reported, real + windows.size() / 100);
}

TEST(CloneSitesOfLibc, flags_are_dead_behind_each) {
  auto file = text_of_file(kLibc, FunctionsFrom::kSymbols);
  if (file.text.empty()) GTEST_SKIP() << "no libc.so.6 at the usual place";
  auto sites = find_clone_sites(file.text, file.base);
  EXPECT_GE(sites.size(), 3u);
  for (const CloneSite& site : sites) EXPECT_TRUE(site.flags_dead_after) << std::hex << site.addr.value;
}

}  // namespace
}  // namespace blip::x86::test
