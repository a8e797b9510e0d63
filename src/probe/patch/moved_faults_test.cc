// SPDX-License-Identifier: MIT
// Entries that begin with an instruction that may fault, in a program that looks where faults happen.
#include <gtest/gtest.h>

#include <array>

#include "elf/test_image.h"
#include "probe/patch/plan.h"
#include "x86/test_bytes.h"

namespace blip::probe {
namespace {

constexpr uint64_t kText = 0x1000, kBase = 0x10000000;

Module module_of(std::string_view hex) {
  auto text = x86::test::bytes(hex);
  elf::TestImage image(ET_DYN);
  image.add_symbol("f", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), kText, text.size());
  text.resize(0x40, 0xcc);
  image.add_segment(PF_R | PF_X, kText, text);
  image.add_section_at(".text", SHT_PROGBITS, SHF_EXECINSTR, kText, text.size());
  return Module(*elf::ElfFile::from_bytes("f", image.finish()), "/f", kBase, true);
}

struct Planned {
  PlannedProbe probe;
  uint64_t begin = 0;  // of the site, in the function
};

Planned plan(std::string_view hex, const PlanOptions& options, const x86::Shown& shown) {
  const Module module = module_of(hex);
  const elf::Function function = (*module.symbols())->functions().front();
  const Point point{.addr = function.addr, .is_entry = true, .function = function, .shown = shown};
  auto space = assumed_space(module);
  const ModulePlan made = plan_points(module, {&point, 1}, options, space);
  if (made.probes[0].refused()) return {made.probes[0]};
  return {made.probes[0], made.sites[made.probes[0].site].rewrite.start - module.to_target(function.addr)};
}

constexpr PlanOptions kStay{.faults_matter = true};
constexpr PlanOptions kAccept{.faults_matter = true, .accept_faults = true};
const std::string kRefusal = "it may fault, and the program handles such faults itself";

TEST(MovedFaults, the_probe_stands_behind_them) {
  const struct {
    const char* what;
    const char* hex;
    int64_t begin;  // negative: refused
  } cases[] = {
      {"a load", "48 8b 07 b8 01 00 00 00 c3", 3},
      {"two loads", "48 8b 07 48 8b 40 08 c3", 7},
      {"behind an endbr64", "f3 0f 1e fa 48 8b 07 b8 01 00 00 00 c3", 7},
      {"a jump through memory", "ff 27", -1},
      {"a load, and such a jump", "48 8b 07 ff 60 08", -1},
      {"a loop that leads behind it", "48 8b 07 31 c0 ff c0 ff cf 75 f8 c3", -1},
      {"a loop that leads to it", "48 8b 07 48 ff c7 48 85 c0 75 f5 c3", 3},
      {"no fault", "b8 01 00 00 00 c3", 0},
      {"one that comes later", "31 c0 31 d2 48 8b 07 c3", 0},
      {"more than is looked at", "48 8b 07 48 8b 07 48 8b 07 48 8b 07 48 8b 07 48 8b 07 48 8b 07 c3", -1},
  };
  for (const auto& c : cases) {
    const Planned made = plan(c.hex, kStay, x86::Shown::nothing());
    EXPECT_EQ(made.probe.refused(), c.begin < 0) << c.what << ": " << made.probe.refusal;
    if (c.begin < 0) {
      EXPECT_EQ(made.probe.refusal, kRefusal) << c.what;
    } else {
      EXPECT_EQ(static_cast<int64_t>(made.begin), c.begin) << c.what;
    }
    EXPECT_FALSE(made.probe.moves_fault) << c.what;
  }
}

TEST(MovedFaults, not_behind_what_the_probe_shows) {
  const x86::Shown result{.registers = 1, .vectors = false, .memory = false};
  EXPECT_EQ(plan("48 8b 07 b8 01 00 00 00 c3", kStay, result).probe.refusal, kRefusal);
  EXPECT_EQ(plan("48 8b 17 b8 01 00 00 00 c3", kStay, result).begin, 3U);
}

TEST(MovedFaults, accepted_ones_are_moved_only_where_nothing_else_helps) {
  const Planned behind = plan("48 8b 07 b8 01 00 00 00 c3", kAccept, x86::Shown::nothing());
  EXPECT_EQ(behind.begin, 3U);
  EXPECT_FALSE(behind.probe.moves_fault);
  for (const char* hex : {"48 8b 07 ff 60 08", "48 8b 3f 48 8b 7f 08 c3"}) {
    const Planned moved = plan(hex, kAccept, x86::Shown());
    EXPECT_FALSE(moved.probe.refused()) << moved.probe.refusal;
    EXPECT_EQ(moved.begin, 0U);
    EXPECT_EQ(moved.probe.step, x86::Step::kWindow);
    EXPECT_TRUE(moved.probe.moves_fault);
  }
}

// A call is remembered once for all that ask for its return.
TEST(MovedFaults, accepted_ones_of_a_function_are_at_one_place) {
  const Module module = module_of("48 8b 07 b8 01 00 00 00 c3");
  const elf::Function function = (*module.symbols())->functions().front();
  const Point bare{
      .addr = function.addr, .is_entry = true, .function = function, .shown = x86::Shown::nothing()};
  const Point all{.addr = function.addr, .is_entry = true, .function = function, .shown = x86::Shown()};
  for (const auto& points : {std::array{bare, all}, std::array{all, bare}}) {
    auto space = assumed_space(module);
    const ModulePlan made = plan_points(module, points, kAccept, space);
    for (const PlannedProbe& probe : made.probes) {
      EXPECT_FALSE(probe.refused()) << probe.refusal;
      EXPECT_EQ(probe.offset, 0U);
      EXPECT_EQ(made.sites[probe.site].rewrite.start, module.to_target(function.addr));
    }
  }
}

TEST(MovedFaults, flags_and_the_red_zone_are_kept_behind_them) {
  const Planned made = plan("48 83 3f 00 0f 84 00 00 00 00 c3", kStay, x86::Shown::nothing());  // cmp; je
  EXPECT_EQ(made.begin, 4U);
  EXPECT_TRUE(made.probe.flags_live);
  EXPECT_TRUE(made.probe.skip_red_zone);
}

}  // namespace
}  // namespace blip::probe
