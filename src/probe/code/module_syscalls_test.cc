// SPDX-License-Identifier: MIT
#include "probe/code/module_syscalls.h"

#include <gtest/gtest.h>

#include "elf/test_image.h"
#include "x86/test_bytes.h"

namespace blip::probe {
namespace {

constexpr uint32_t kMunmap = 11;
constexpr uint64_t kText = 0x1000, kSecond = kText + 0x20, kData = 0x3000;

// Two functions, 32 bytes from each other, and a word of data.
struct Case {
  const char* what;
  const char* first;
  const char* second;
  size_t sites;
  bool is_known;
  uint64_t data = 0;
};

const Case kCases[] = {
    {"none", "c3", "c3", 0, true},
    {"one that takes memory away", "b8 0b 00 00 00 0f 05 85 c0 c3", "c3", 1, true},
    {"one that does not", "b8 27 00 00 00 0f 05 c3", "c3", 0, true},
    {"another's number", "b8 09 00 00 00 0f 05 c3", "c3", 0, true},
    {"an argument's number", "89 f8 0f 05 c3", "c3", 0, false},
    {"flags that are read behind it", "b8 0b 00 00 00 0f 05 74 00 c3", "c3", 0, false},
    {"no mov right before", "b8 0b 00 00 00 89 fe 0f 05 85 c0 c3", "c3", 0, false},
    {"by its number of x32", "b8 0b 00 00 40 0f 05 85 c0 c3", "c3", 0, false},
    {"bytes in another instruction", "a9 0f 05 00 00 c3", "c3", 0, true},
    {"behind what is no instruction", "06 a9 0f 05 00 00 c3", "c3", 0, false},
    {"before what is no instruction", "a9 0f 05 00 00 c3 06", "c3", 0, true},
    {"a harmless one behind what is no instruction", "06 b8 27 00 00 00 0f 05 c3", "c3", 0, false},
    // mov eax, 11; jmp behind the mov of the other
    {"by a jump of another function", "b8 27 00 00 00 0f 05 c3", "b8 0b 00 00 00 e9 db ff ff ff", 0, false},
    {"by a short one", "b8 27 00 00 00 0f 05 c3", "b8 0b 00 00 00 eb de", 0, false},
    {"by a jump of another function before the mov", "89 fe b8 27 00 00 00 0f 05 c3", "e9 dd ff ff ff", 0,
     true},
    {"by an address in data", "b8 27 00 00 00 0f 05 c3", "c3", 0, false, kText + 5},
    {"an address in data of the beginning", "b8 27 00 00 00 0f 05 c3", "c3", 0, true, kText},
};

Module module_of(const Case& c) {
  std::vector<uint8_t> text = x86::test::bytes(c.first);
  const uint64_t first_size = text.size();
  text.resize(kSecond - kText, 0xcc);
  const std::vector<uint8_t> second = x86::test::bytes(c.second);
  text.insert(text.end(), second.begin(), second.end());
  text.resize(64, 0xcc);
  std::vector<uint8_t> data;
  elf::TestImage::put(data, c.data);
  elf::TestImage image(ET_EXEC);
  image.add_segment(PF_R | PF_X, kText, text);
  image.add_segment(PF_R | PF_W, kData, data);
  image.add_section_at(".text", SHT_PROGBITS, SHF_EXECINSTR, kText, text.size());
  image.add_section_at(".data", SHT_PROGBITS, SHF_WRITE, kData, data.size());
  image.add_symbol("first", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), kText, first_size);
  image.add_symbol("second", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), kSecond, second.size());
  auto file = elf::ElfFile::from_bytes("program", image.finish());
  EXPECT_TRUE(file) << c.what;
  return Module(*std::move(file), "/bin/program", 0, true);
}

TEST(ModuleSyscalls, of_small_programs) {
  const uint32_t wanted[] = {kMunmap};
  for (const Case& c : kCases) {
    const ModuleSyscalls calls = find_module_syscalls(module_of(c), wanted);
    EXPECT_EQ(calls.sites.size(), c.sites) << c.what;
    EXPECT_EQ(calls.unknown, c.is_known ? "" : "program makes system calls of its own") << c.what;
    for (const x86::SyscallSite& site : calls.sites) {
      EXPECT_EQ(site.addr, TargetAddr(kText)) << c.what;
      EXPECT_EQ(site.number, kMunmap) << c.what;
    }
  }
}

TEST(ModuleSyscalls, that_can_be_watched_are_the_same_without_the_others) {
  const uint32_t wanted[] = {kMunmap};
  for (const Case& c : kCases) {
    const ModuleSyscalls all = find_module_syscalls(module_of(c), wanted);
    const ModuleSyscalls found = find_module_syscalls(module_of(c), wanted, SyscallSearch::kWatchable);
    if (all.unknown.empty()) {
      EXPECT_EQ(found.sites.size(), all.sites.size()) << c.what;
    }
    EXPECT_GE(found.sites.size(), all.sites.size()) << c.what;
  }
}

// `mov $getpid, %eax; syscall` and padding, up to another function.
Module large_module(uint64_t size) {
  std::vector<uint8_t> text = x86::test::bytes("b8 27 00 00 00 0f 05 c3");
  text.resize(size, 0xcc);
  elf::TestImage image(ET_EXEC);
  image.add_segment(PF_R | PF_X, kText, text);
  image.add_section_at(".text", SHT_PROGBITS, SHF_EXECINSTR, kText, text.size());
  image.add_symbol("first", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), kText, size);
  return Module(*elf::ElfFile::from_bytes("program", image.finish()), "/bin/program", 0, true);
}

TEST(ModuleSyscalls, of_a_function_that_is_too_large_are_not_known) {
  const uint32_t wanted[] = {kMunmap};
  EXPECT_EQ(find_module_syscalls(large_module(4096), wanted).unknown, "");
  for (const SyscallSearch search : {SyscallSearch::kAll, SyscallSearch::kAllOrNone})
    EXPECT_EQ(find_module_syscalls(large_module(40 << 20), wanted, search).unknown,
              "program makes system calls of its own");
}

}  // namespace
}  // namespace blip::probe
