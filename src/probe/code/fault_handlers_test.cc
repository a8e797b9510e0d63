// SPDX-License-Identifier: MIT
#include "probe/code/fault_handlers.h"

#include <gtest/gtest.h>

#include "elf/test_image.h"
#include "probe/patch/plan.h"
#include "x86/test_bytes.h"

namespace blip::probe {
namespace {

constexpr uint64_t kText = 0x1000, kSize = 0x20;

// Functions of kSize bytes, each `mov (%rdi), %rax; mov 8(%rax), %rax; ret`.
Module module_of(const std::string& name, const std::vector<std::string>& functions,
                 const std::string& section = ".data") {
  std::vector<uint8_t> text;
  elf::TestImage image(ET_EXEC);
  for (size_t i = 0; i < functions.size(); ++i) {
    const auto code = x86::test::bytes("48 8b 07 48 8b 40 08 c3");
    text.insert(text.end(), code.begin(), code.end());
    text.resize((i + 1) * kSize, 0xcc);
    image.add_symbol(functions[i], ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), kText + i * kSize, code.size());
  }
  image.add_segment(PF_R | PF_X, kText, text);
  image.add_section_at(".text", SHT_PROGBITS, SHF_EXECINSTR, kText, text.size());
  image.add_section_at(section, SHT_PROGBITS, 0, kText, 0);
  return Module(*elf::ElfFile::from_bytes(name, image.finish()), "/bin/" + name, 0, true);
}

TEST(FaultHandlers, that_only_report) {
  const struct {
    const char* what;
    Module module;
    bool expected;
  } cases[] = {
      {"a program", module_of("program", {"main"}), false},
      {"MariaDB", module_of("mariadbd", {"_Z11mysqld_mainiPPc", "handle_fatal_signal"}), true},
      {"another program's handler of that name", module_of("server", {"main", "handle_fatal_signal"}), false},
      {"node", module_of("node", {"main", "_ZN4node25TrapWebAssemblyOrContinueEiP9siginfo_tPv"}), true},
      {"crashpad", module_of("browser", {"main"}, ".note.crashpad.info"), true},
      {"HotSpot", module_of("libjvm.so", {"JVM_handle_linux_signal", "SafeFetch32_impl"}), true},
      {"HotSpot without the names of its own", module_of("libjvm.so", {"JVM_handle_linux_signal"}), false},
      {"another machine of that name", module_of("libjvm.so", {"SafeFetch32_impl"}), false},
      {"another machine", module_of("libcoreclr.so", {"handle_fatal_signal"}), false},
  };
  for (const auto& c : cases) EXPECT_EQ(faults_are_only_reported({&c.module, 1}), c.expected) << c.what;
}

TEST(FaultHandlers, what_hotspot_knows_by_address_stays_in_place) {
  const Module module = module_of("libjvm.so", {"JVM_handle_linux_signal", "SafeFetch32_impl", "other"});
  std::vector<Point> points;
  for (const elf::Function& f : (*module.symbols())->functions())
    points.push_back({.addr = f.addr, .is_entry = true, .function = f});
  auto space = assumed_space(module);
  const ModulePlan plan = plan_points(module, points, {}, space);
  ASSERT_EQ(plan.probes.size(), 3U);
  EXPECT_FALSE(plan.probes[0].refused()) << plan.probes[0].refusal;
  EXPECT_EQ(plan.probes[1].refusal, "it may fault, and the program handles such faults itself");
  EXPECT_FALSE(plan.probes[2].refused()) << plan.probes[2].refusal;
}

}  // namespace
}  // namespace blip::probe
