// SPDX-License-Identifier: MIT
// Names in a process that runs: this one.
#include "probe/code/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "probe/code/ifunc.h"
#include "probe/patch/plan.h"

namespace blip::probe {
namespace {

using Function = unsigned long(unsigned long);
[[gnu::noinline, gnu::used]] unsigned long resolve_test_a(unsigned long i) { return i * 3 % 17; }
[[gnu::noinline, gnu::used]] unsigned long resolve_test_b(unsigned long i) { return i * 5 % 19; }

}  // namespace
}  // namespace blip::probe

extern "C" {
// Runs before this program is relocated: nothing but an address.
[[gnu::used]] blip::probe::Function* resolve_test_choose() { return blip::probe::resolve_test_b; }
[[gnu::ifunc("resolve_test_choose")]] unsigned long resolve_test_own(unsigned long i);
[[gnu::alias("resolve_test_named"), gnu::used]] unsigned long resolve_test_nickname(unsigned long i) noexcept;
[[gnu::noinline, gnu::used]] unsigned long resolve_test_named(unsigned long i) noexcept { return i * 7 % 23; }
}

namespace blip::probe {
namespace {

class Resolve : public testing::Test {
 protected:
  // What load_modules() does for another process; blip may not attach to itself.
  void SetUp() override {
    const auto maps = proc::read_maps(::getpid());
    for (const proc::Map& map : *maps) {
      if (!map.exec || map.path.empty() || map.path[0] != '/') continue;
      auto file = elf::ElfFile::open(map.path);
      ASSERT_TRUE(file) << file.error().message();
      const elf::Segment* text = nullptr;
      for (const elf::Segment& s : file->segments())
        if (s.exec) text = &s;
      const uint64_t bias = map.range.begin.value - (text->range.begin.value & ~uint64_t{4095});
      modules_.emplace_back(*std::move(file), map.path, bias, modules_.empty());
    }
  }

  Result<std::vector<FunctionTarget>> resolve(const std::string& spec, bool with_memory = true) const {
    const std::vector<elf::Spec> specs{*elf::parse_spec(spec)};
    return resolve_functions(specs, modules_, {with_memory ? &memory_ : nullptr, unreadable_});
  }
  uint64_t address(const FunctionTarget& t) const {
    return modules_[t.module].to_target(t.function.addr).value;
  }

  proc::Memory memory_ = *proc::Memory::open_read_only(::getpid());
  std::vector<Module> modules_;
  std::vector<UnreadableModule> unreadable_;
};

TEST_F(Resolve, an_ifunc_of_the_program_is_what_its_calls_reach) {
  EXPECT_EQ(resolve_test_own(9), resolve_test_b(9));
  const auto found = resolve("resolve_test_own");
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(address(found->front()), reinterpret_cast<uint64_t>(&resolve_test_b));
  EXPECT_EQ(found->front().name, "resolve_test_own");
  EXPECT_FALSE(found->front().function.is_ifunc);
}

TEST_F(Resolve, without_a_process_an_ifunc_is_refused_by_the_plan) {
  const auto found = resolve("resolve_test_own", false);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1u);
  EXPECT_TRUE(found->front().function.is_ifunc);
  const elf::Function& f = found->front().function;
  x86::TrampolineSpace space;
  const std::vector<Point> points{{.addr = f.addr, .is_entry = true, .function = f}};
  EXPECT_THAT(plan_points(modules_[0], points, {}, space).probes.front().refusal,
              testing::HasSubstr("IFUNC"));
}

TEST_F(Resolve, ifuncs_of_libc_are_what_a_pointer_to_them_holds) {
  // volatile: else the compiler knows what they do and leaves them out
  size_t (*volatile length)(const char*) = &std::strlen;
  void* (*volatile fill)(void*, int, size_t) = &std::memset;
  const std::pair<const char*, uint64_t> wanted[] = {{"strlen", reinterpret_cast<uint64_t>(length)},
                                                     {"memset", reinterpret_cast<uint64_t>(fill)}};
  for (const auto& [name, where] : wanted) {
    const auto found = resolve(std::string("libc.so.6:") + name);
    ASSERT_TRUE(found) << found.error().message();
    ASSERT_EQ(found->size(), 1u) << name;
    EXPECT_EQ(address(found->front()), where) << name;
    EXPECT_GT(found->front().function.size, 0u);
    EXPECT_EQ(found->front().name, name);
  }
}

TEST_F(Resolve, one_probe_per_address_under_the_name_the_user_wrote) {
  for (const char* name : {"resolve_test_named", "resolve_test_nickname"}) {
    const auto found = resolve(name);
    ASSERT_TRUE(found) << found.error().message();
    ASSERT_EQ(found->size(), 1u);
    EXPECT_EQ(found->front().name, name);
  }
  const auto both = resolve("resolve_test_n*");
  ASSERT_TRUE(both);
  ASSERT_EQ(both->size(), 1u);
  EXPECT_EQ(both->front().name, "resolve_test_named");  // the shorter
}

TEST_F(Resolve, suggests_the_nearest_names) {
  const auto found = resolve("resolve_test_nmaed");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message(), testing::HasSubstr("resolve_test_named"));
}

TEST_F(Resolve, a_module_that_cannot_be_read_is_named) {
  unreadable_ = {{"/usr/lib/libgone.so.1", "the file was replaced"}};
  const auto by_module = resolve("libgone:f");
  ASSERT_FALSE(by_module);
  EXPECT_THAT(by_module.error().message(), testing::HasSubstr("libgone.so.1: the file was replaced"));
  const auto by_name = resolve("resolve_test_nothing_like_it");
  ASSERT_FALSE(by_name);
  EXPECT_THAT(by_name.error().message(), testing::HasSubstr("libgone.so.1"));
}

}  // namespace
}  // namespace blip::probe
