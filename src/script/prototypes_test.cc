// SPDX-License-Identifier: MIT
#include "script/prototypes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "script/ir/interpret.h"
#include "script/ir/test_programs.h"
#include "script/no_debug_scope.h"
#include "script/test_compile.h"

namespace blip::script {
namespace {

TEST(Prototypes, the_table_is_c_and_names_each_function_once) {
  std::set<std::string> names;
  for (const std::string_view text : prototype_texts()) {
    const auto prototype = parse_prototype(text);
    ASSERT_TRUE(prototype) << prototype.error().message();
    EXPECT_TRUE(names.insert(prototype->name).second) << text;
    for (const auto& p : prototype->parameters) EXPECT_FALSE(p.name.starts_with("arg0")) << text;
    EXPECT_LE(prototype->parameters.size(), 6U) << text;
  }
}

TEST(Prototypes, parsed) {
  const auto p =
      parse_prototype("ssize_t sendto(int fd, const void *, const struct sockaddr *to, char **x, ...)");
  ASSERT_TRUE(p);
  EXPECT_EQ(p->name, "sendto");
  EXPECT_EQ(to_string(*p->result), "ssize_t");
  EXPECT_TRUE(p->is_variadic);
  std::vector<std::string> parameters;
  for (const auto& parameter : p->parameters)
    parameters.push_back(parameter.name + ": " + to_string(*parameter.type));
  EXPECT_THAT(parameters,
              testing::ElementsAre("fd: int", "arg1: void *", "to: struct sockaddr *", "x: char **"));
  EXPECT_TRUE(parse_prototype("int f(void)")->parameters.empty());
  for (const char* text : {"", "int", "int f", "int f(", "int f(int", "int f(int) x", "int f(,)"})
    EXPECT_FALSE(parse_prototype(text)) << text;
}

TEST(Prototypes, other_names_of_the_same_function) {
  for (const char* name : {"open64", "__open64", "__open", "__libc_open64", "open@@GLIBC_2.2.5", "__GI_open"})
    EXPECT_EQ(find_prototype(name), find_prototype("open")) << name;
  EXPECT_EQ(find_prototype("_IO_puts")->name, "puts");
  EXPECT_EQ(find_prototype("opening"), nullptr);
}

TEST(NoDebugScope, arguments_of_libc_functions_by_name) {
  TestMachine machine;
  machine.registers[7] = 0xffffffff00000003;
  machine.registers[6] = 0x1000;
  machine.put(0x1000, "/etc/passwd", 12);
  NoDebugScope scope("openat", NoDebugScope::At::kEntry, "it is stripped");
  const HitScopes site{.scope = &scope};
  const auto filter = compile_filter("dirfd == 3 && path == \"/etc/passwd\"", site);
  ASSERT_TRUE(filter) << filter.error().message();
  EXPECT_TRUE(run(filter->program, machine));
  const auto all = compile_variables(scope.parameters(), site, {});
  ASSERT_TRUE(all);
  EXPECT_THAT(all->fields, testing::ElementsAre(
                               testing::Field(&Field::name, "dirfd"), testing::Field(&Field::name, "path"),
                               testing::Field(&Field::name, "flags"), testing::Field(&Field::name, "mode")));
  const auto outputs = run(all->program, machine);
  ASSERT_TRUE(outputs);
  EXPECT_EQ((*outputs)[0].bytes, (std::vector<uint8_t>{3, 0, 0, 0}));
  EXPECT_EQ(std::string((*outputs)[1].bytes.begin(), (*outputs)[1].bytes.end()), "/etc/passwd");
}

TEST(NoDebugScope, elsewhere_the_arguments_are_gone_but_the_result_is_typed) {
  TestMachine machine;
  machine.returned = 0xffffffff;
  machine.registers[7] = 17;
  NoDebugScope entry("close", NoDebugScope::At::kEntry, ""), exit("close", NoDebugScope::At::kElsewhere, "");
  const HitScopes site{.scope = &exit, .is_return = true, .entry = &entry};
  const auto filter = compile_filter("$return == -1 && entry(fd) == 17", site);
  ASSERT_TRUE(filter) << filter.error().message();
  for (const uint32_t node : filter->entry_nodes)
    machine.entries.push_back(interpret(filter->entry, node, machine));
  EXPECT_TRUE(run(filter->program, machine));
  EXPECT_FALSE(compile_filter("fd == 17", site));
}

TEST(NoDebugScope, a_function_nobody_knows_has_six_words) {
  NoDebugScope scope("work", NoDebugScope::At::kEntry, "a.out has no debugging information");
  const HitScopes site{.scope = &scope};
  EXPECT_EQ(scope.parameters().size(), 6U);
  EXPECT_TRUE(compile_filter("arg0 * 2 > 5 && (char *)arg1 == \"x\" && farg0 > 1.5", site));
  const auto wrong = compile_filter("count > 5", site);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message(),
              testing::HasSubstr("a.out has no debugging information; without it there are arg0"));
}

}  // namespace
}  // namespace blip::script
