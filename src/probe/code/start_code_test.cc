// SPDX-License-Identifier: MIT
#include "probe/code/start_code.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elf/test_files.h"
#include "probe/code/functions.h"
#include "probe/code/module.h"

namespace blip::probe {
namespace {

class StartCode : public testing::Test {
 protected:
  // Compiles, strips, and says where main was, and where it is found.
  void build(const std::string& compiler_and_flags, const std::string& source = "p.c") {
    BLIP_SKIP_WITHOUT_TOOLS();
    files_.write("p.c", "int f(int); int main(int c, char** v) { (void)v; return f(c) + 1; }\n");
    files_.write("f.c", "int f(int i) { return i * 3; }\n");
    files_.write("s.s", ".globl _start\n_start: xor %ebp,%ebp\n mov $60,%eax\n xor %edi,%edi\n syscall\n");
    if (!files_.run(compiler_and_flags + " -O1 -o full " + source + " && strip -o stripped full"))
      GTEST_SKIP() << "cannot build with: " << compiler_and_flags;
    full_.emplace(Module::of_file(files_.path("full")).value());
    stripped_.emplace(Module::of_file(files_.path("stripped")).value());
  }

  static std::optional<elf::Function> find(const Module& module, std::string_view name) {
    auto symbols = module.symbols();
    for (const elf::Function& f : (*symbols)->functions())
      if (f.name == name) return f;
    return std::nullopt;
  }

  void expect_found(std::string_view name) {
    if (IsSkipped()) return;
    const auto wanted = find(*full_, name), found = find(*stripped_, name);
    ASSERT_TRUE(wanted && found) << name;
    EXPECT_EQ(found->addr, wanted->addr) << name;
    EXPECT_GE(found->size, wanted->size) << name;  // glibc's _start has another size by its symbol
    EXPECT_LE(found->size, wanted->size + 16) << name;
  }

  elf::TestFiles files_;
  std::optional<Module> full_, stripped_;
};

struct Way {
  const char* name;
  const char* command;
};
class StartCodeBuilt : public StartCode, public testing::WithParamInterface<Way> {};

TEST_P(StartCodeBuilt, main_and_start_are_found) {
  build(GetParam().command, "p.c f.c");
  expect_found("main");
  expect_found("_start");
}
INSTANTIATE_TEST_SUITE_P(Ways, StartCodeBuilt,
                         testing::Values(Way{"pie", "cc -pie -fPIE"}, Way{"no_pie", "cc -no-pie -fno-pie"},
                                         Way{"statically", "cc -static"},
                                         Way{"static_pie", "cc -static-pie -fPIE"},
                                         Way{"endbr64", "cc -fcf-protection=full"},
                                         Way{"no_relaxation", "cc -Wl,--no-relax"},
                                         Way{"no_relaxation_no_pie", "cc -no-pie -fno-pie -Wl,--no-relax"},
                                         Way{"clang", "clang-14"}, Way{"musl", "musl-gcc"},
                                         Way{"musl_static", "musl-gcc -static"}),
                         [](const auto& way) { return std::string(way.param.name); });

TEST_F(StartCode, main_without_unwind_tables) {
  build("cc -fno-asynchronous-unwind-tables", "p.c f.c");
  if (IsSkipped()) return;
  const auto wanted = find(*full_, "main"), found = find(*stripped_, "main");
  ASSERT_TRUE(wanted && found);
  EXPECT_EQ(found->addr, wanted->addr);
  EXPECT_GE(found->size, wanted->size);
  EXPECT_TRUE(found->size_guessed);
}

TEST_F(StartCode, a_program_without_main_has_none) {
  build("cc -nostdlib -static", "s.s");
  if (IsSkipped()) return;
  EXPECT_TRUE(find(*stripped_, "_start"));
  EXPECT_FALSE(find(*stripped_, "main"));
  EXPECT_THAT(stripped_->notes(), testing::ElementsAre(testing::HasSubstr("main was not found")));
}

TEST_F(StartCode, a_library_has_neither) {
  build("cc -shared -fPIC", "f.c");
  if (IsSkipped()) return;
  EXPECT_FALSE(find(*stripped_, "_start"));
  EXPECT_FALSE(find(*stripped_, "main"));
  EXPECT_TRUE(stripped_->notes().empty());
}

TEST_F(StartCode, functions_without_a_name_are_listed_by_their_unwind_tables) {
  build("cc -no-pie -fno-pie", "p.c f.c");
  if (IsSkipped()) return;
  const auto wanted = find(*full_, "f");
  ASSERT_TRUE(wanted);
  auto functions = all_functions(*stripped_);
  ASSERT_TRUE(functions);
  EXPECT_TRUE(std::is_sorted(functions->begin(), functions->end(),
                             [](const auto& a, const auto& b) { return a.addr < b.addr; }));
  for (const elf::Function& f : *functions) {
    if (f.addr != wanted->addr) continue;
    EXPECT_TRUE(f.is_nameless);
    EXPECT_EQ(f.size, wanted->size);
    EXPECT_EQ(display_name(*stripped_, f), fmt::format("stripped+{:#x}", f.addr.value));
    return;
  }
  FAIL() << "f is not listed";
}

TEST(PreferredName, order) {
  EXPECT_TRUE(preferred_name("printf", "_IO_printf"));
  EXPECT_TRUE(preferred_name("_IO_printf", "printf", "_IO_printf"));
  EXPECT_TRUE(preferred_name("index", "strchr"));
  EXPECT_TRUE(preferred_name("abc", "abd"));
  EXPECT_FALSE(preferred_name("abc", "abc"));
}

}  // namespace
}  // namespace blip::probe
