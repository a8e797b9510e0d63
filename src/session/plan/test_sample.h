// SPDX-License-Identifier: MIT
// A small program and a library, compiled when a test runs, as the modules of a process that does not exist.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dwarf/test_compiled.h"
#include "session/plan/contexts.h"
#include "session/plan/targets.h"

namespace blip::session::test {

inline constexpr std::string_view kProgramSource = R"(
#include <stdlib.h>
struct Pair { int first; const char* name; };
int global_number = 7;
int shared_number = 1;
const char* global_text = "text";
static Pair table[3];
extern "C" __attribute__((noinline)) int work(int n, const char* s, Pair* pair) {
  int sum = n + pair->first;  // line: sum
  for (int i = 0; i < n; ++i) sum += s[i] * i;
  return sum;
}
static inline __attribute__((always_inline)) int twice(int small) { return small * 2 + global_number; }
extern "C" int calls_twice(int a, int b) {
  int x = twice(a) * b;
  return x + twice(b);
}
extern "C" __attribute__((visibility("hidden"))) int thrice(int n) { return n * 3 + global_number; }
extern "C" int calls_thrice(int n) { return thrice(n) ^ 1; }
namespace shop {
__attribute__((noinline)) int price(int n) { return n * 3; }
__attribute__((noinline)) int price(double n) { return (int)(n * 4); }
}
extern "C" __attribute__((noinline)) void gives_up() { abort(); }
extern "C" __attribute__((noinline)) double half(double d) { return d / 2 + table[1].first; }
extern "C" __attribute__((noinline)) void nothing(int* p) { *p = 1; }
extern "C" __attribute__((noinline)) int passes_on(int n) { return work(n, "x", table); }
)";

// It has symbols, but no debugging information.
inline constexpr std::string_view kLibrarySource = R"(
int other_number = 3;
int shared_number = 2;
int work(int n) { return n + other_number; }
int other(int n) { return n * n + shared_number; }
)";

inline constexpr uint64_t kProgramBias = 0x555555554000, kLibraryBias = 0x7f0000000000;

inline const std::vector<uint8_t>& program_image() {
  return dwarf::compiled("g++ -O2 -gdwarf-5", kProgramSource, "cc");
}
inline const std::vector<uint8_t>& library_image() {
  return dwarf::compiled("gcc -O2 -Wl,--strip-debug", kLibrarySource);
}

inline probe::Module module_of(const std::vector<uint8_t>& image, const std::string& path, uint64_t bias,
                               bool is_executable) {
  return probe::Module(*elf::ElfFile::from_bytes(path, image), path, bias, is_executable);
}

// The line of the program's source that has this text.
inline uint32_t line_of(std::string_view text) {
  const size_t at = kProgramSource.find(text);
  EXPECT_NE(at, std::string_view::npos) << text;
  return 1 + static_cast<uint32_t>(std::count(kProgramSource.begin(), kProgramSource.begin() + at, '\n'));
}

inline ProbeRequest request(ProbeKind kind, std::string_view spec, DataRequest data = {}) {
  ProbeRequest made;
  made.spec = *elf::parse_spec(spec);
  made.kind = kind;
  made.data = std::move(data);
  return made;
}
inline ProbeRequest entry(std::string_view spec, DataRequest data = {}) {
  return request(ProbeKind::kFunction, spec, std::move(data));
}
inline ProbeRequest returns(std::string_view spec, DataRequest data = {}) {
  return request(ProbeKind::kReturn, spec, std::move(data));
}
inline ProbeRequest every_instruction(std::string_view spec) {
  return request(ProbeKind::kEveryInstruction, spec);
}
inline ProbeRequest source_line(const std::string& file, uint32_t line) {
  ProbeRequest made;
  made.spec.name = file;
  made.spec.text = file + ":" + std::to_string(line);
  made.kind = ProbeKind::kLine;
  made.line = line;
  return made;
}

struct Sample {
  std::vector<probe::Module> modules{module_of(program_image(), "/bin/sample", kProgramBias, true),
                                     module_of(library_image(), "/lib/libother.so", kLibraryBias, false)};
  DebugStore debug;
  Options options;

  explicit Sample(std::vector<ProbeRequest> probes = {}) {
    options.no_tid = true;
    options.follow_fork = false;
    options.probes = std::move(probes);
  }

  Result<FoundTargets> find(bool part_will_do = false, const RequestMask& wanted = {}) {
    const probe::ResolveContext resolve;
    return find_targets(options, modules, {resolve, debug}, part_will_do, wanted);
  }
  // Of requests that match something.
  std::vector<Target> targets() { return find().value().targets; }

  // Names of targets, or the error.
  std::vector<std::string> names(bool part_will_do = false, const RequestMask& wanted = {}) {
    const auto found = find(part_will_do, wanted);
    if (!found) return {found.error().message()};
    std::vector<std::string> all;
    for (const Target& t : found->targets) all.push_back(name_of(t, modules));
    return all;
  }
};

}  // namespace blip::session::test
