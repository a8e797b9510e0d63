// SPDX-License-Identifier: MIT
#include "script/blocks/library.h"

#include <gtest/gtest.h>

#include <set>

#include "script/ir/ir.h"

namespace blip::script {
namespace {

class SmallWorld : public World {
 public:
  std::vector<CodeName> names_of(uint64_t pid, uint64_t address) override {
    if (pid != 7 || address != 0x1010) return {};
    return {{.function = "inner", .offset = 1, .module = "/bin/a", .file = "a.c", .line = 5},
            {.function = "outer", .offset = 16}};
  }
  std::vector<uint64_t> stack(uint64_t number) override {
    return number == 3 ? std::vector<uint64_t>{10, 20} : std::vector<uint64_t>();
  }
  std::string thread_name(uint64_t pid, uint64_t tid) override {
    return pid == 7 && tid == 8 ? "worker" : "";
  }
  FiredProbe probe(uint64_t number) override {
    return {.wanted = 0, .place = {.function = "f", .line = static_cast<uint32_t>(number)}};
  }
  uint64_t realtime_ns(uint64_t clock) override { return clock + 1000; }
  uint64_t target_pid() override { return 7; }
  std::vector<std::string> command_line(uint64_t) override { return {"a", "b"}; }
};

LibraryCall call(std::string_view name, std::vector<Argument> arguments, World* world) {
  LibraryCall made{.arguments = arguments, .world = world};
  const uint32_t which = find_library_function(name);
  EXPECT_NE(which, kNone) << name;
  if (which != kNone) library()[which].run(made);
  return made;
}

TEST(Library, has_each_name_once) {
  std::set<std::string_view> names;
  for (const LibraryFunction& f : library()) EXPECT_TRUE(names.insert(f.name).second) << f.name;
  EXPECT_EQ(find_library_function("no_such_function"), kNone);
}

TEST(Library, asks_the_world) {
  SmallWorld world;
  EXPECT_EQ(call("thread_name", {{7}, {8}}, &world).text, "worker");
  EXPECT_EQ(call("function_at", {{7}, {0x1010}}, &world).text, "inner");
  EXPECT_EQ(call("line_at", {{7}, {0x1010}}, &world).number, 5U);
  EXPECT_EQ(call("function_at", {{7}, {0x1011}}, &world).text, "");
  EXPECT_EQ(call("probe_function", {{4}}, &world).text, "f");
  EXPECT_EQ(call("probe_line", {{4}}, &world).number, 4U);
  EXPECT_EQ(call("stack_depth", {{3}}, &world).number, 2U);
  EXPECT_EQ(call("stack_frame", {{3}, {1}}, &world).number, 20U);
  EXPECT_EQ(call("stack_frame", {{3}, {2}}, &world).number, 0U);
  EXPECT_EQ(call("realtime", {{5}}, &world).number, 1005U);
  EXPECT_EQ(call("target_pid", {}, &world).number, 7U);
  EXPECT_EQ(call("argument_count", {{7}}, &world).number, 2U);
  EXPECT_EQ(call("command_argument", {{7}, {1}}, &world).text, "b");
  EXPECT_EQ(call("command_argument", {{7}, {2}}, &world).text, "");
}

TEST(Library, knows_nothing_without_a_session) {
  for (const LibraryFunction& f : world_functions()) {
    const std::vector<Argument> arguments(f.parameters.size());
    LibraryCall made{.arguments = arguments};
    f.run(made);
    EXPECT_EQ(made.number, 0U) << f.name;
    EXPECT_EQ(made.text, "") << f.name;
  }
}

}  // namespace
}  // namespace blip::script
