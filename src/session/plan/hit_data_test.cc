// SPDX-License-Identifier: MIT
#include "session/plan/hit_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/plan/test_sample.h"

namespace blip::session {
namespace {

using test::entry;
using test::returns;
using test::Sample;
using testing::ElementsAre;
using testing::HasSubstr;

using Names = std::vector<std::string>;

// Of the first target of the first request.
Result<HitData> data_of(Sample& sample) {
  const std::vector<Target> targets = sample.targets();
  return HitDataMaker(sample.options, sample.modules, sample.debug).make(targets.front());
}
Result<HitData> data_of(ProbeRequest request) {
  Sample sample({std::move(request)});
  return data_of(sample);
}

// Names of the fields, or the error.
Names fields_of(const Result<HitData>& data) {
  if (!data) return {data.error().message()};
  Names names;
  for (const ctf::Field& f : data->fields) names.push_back(f.name);
  return names;
}

ProbeRequest with_memory(MemoryContext memory) {
  ProbeRequest request = entry("work");
  request.contexts.push_back({.row = &contexts::kMemory, .memory = std::move(memory)});
  return request;
}

TEST(HitData, fields_of_what_is_asked_for) {
  const struct {
    const char* what;
    ProbeRequest request;
    testing::Matcher<const Names&> expected;
  } cases[] = {
      {"nothing", entry("work"), ElementsAre()},
      {"arguments", entry("work", {.args = true}), ElementsAre("n", "s", "pair")},
      {"arguments and locals", entry("work+0", {.args = true, .locals = true}),
       testing::Contains(std::string("n"))},
      {"of an inlined copy", entry("twice", {.args = true}), ElementsAre("small")},
      {"captures", entry("work", {.captures = {"n, global_number", "pair->first"}}), testing::SizeIs(3)},
      {"a filter shows nothing", entry("work", {.condition = "n > 1"}), ElementsAre()},
      {"a variable of another module", entry("libother.so:other", {.captures = {"sample::global_number"}}),
       testing::SizeIs(1)},
      {"a result", returns("work", {.captures = {"$return"}}), testing::SizeIs(1)},
      {"a value of the entry", returns("work", {.captures = {"entry(n)"}}), testing::SizeIs(1)},
      {"a name nobody knows", entry("work", {.captures = {"no_such"}}),
       ElementsAre(testing::AllOf(HasSubstr("--capture"), HasSubstr("no_such")))},
      {"no expression", entry("work", {.condition = "n >"}), ElementsAre(HasSubstr("--filter"))},
      {"locals without debugging information", entry("libother.so:other", {.locals = true}),
       ElementsAre(HasSubstr("--locals: libother.so has no debugging information"))},
      {"a filter of a return that names no type", returns("libother.so:other", {.condition = "ret > 3"}),
       ElementsAre()},
      {"one that does", returns("work", {.condition = "$return > 3"}), ElementsAre()},
      {"one that cannot be told without types", returns("work", {.condition = "entry(pair->first) > 3"}),
       ElementsAre()},
  };
  for (const auto& c : cases) EXPECT_THAT(fields_of(data_of(c.request)), c.expected) << c.what;
}

TEST(HitData, the_entry_keeps_what_the_return_shows) {
  EXPECT_EQ(data_of(returns("work", {.captures = {"entry(n), entry(n), $return"}}))->kept.outputs.size(), 1u);
  EXPECT_TRUE(data_of(returns("work", {.captures = {"$return"}}))->kept.outputs.empty());
}

TEST(HitData, memory_contexts) {
  using Kind = MemoryContext::Kind;
  const std::string address = "global_number";
  const struct {
    MemoryContext memory;
    script::Output::Kind output;
    ctf::FieldType type;
    bool is_hex;
  } cases[] = {
      {{Kind::kInt, 4, true, "x", address}, script::Output::Kind::kValue, ctf::FieldType::kInt, false},
      {{Kind::kFloat, 8, true, "x", address}, script::Output::Kind::kValue, ctf::FieldType::kFloat, false},
      {{Kind::kPointer, 8, false, "x", address}, script::Output::Kind::kValue, ctf::FieldType::kInt, true},
      {{Kind::kString, 0, false, "x", address}, script::Output::Kind::kString, ctf::FieldType::kText, false},
      {{Kind::kBytes, 16, false, "x", address}, script::Output::Kind::kBytes, ctf::FieldType::kArray, false},
  };
  for (const auto& c : cases) {
    const auto data = data_of(with_memory(c.memory));
    ASSERT_TRUE(data) << data.error().message();
    ASSERT_EQ(data->fields.size(), 1u);
    EXPECT_EQ(data->fields[0].type, c.type);
    EXPECT_EQ(data->fields[0].is_hex, c.is_hex);
    EXPECT_EQ(data->fields[0].is_signed, c.memory.is_signed);
    EXPECT_EQ(data->hit.outputs[0].kind, c.output);
  }
  EXPECT_EQ(data_of(with_memory({.size = 4, .name = "x", .address = "no_such"})).error().message(),
            "--context x: no variable or function is named no_such");
}

TEST(HitData, integers_are_shown_in_base_16_on_demand) {
  Sample sample({entry("work", {.captures = {"n, *pair"}})});
  EXPECT_FALSE(data_of(sample)->fields[0].is_hex);
  sample.options.hex = true;
  const auto data = data_of(sample);
  EXPECT_TRUE(data->fields[0].is_hex);
  EXPECT_TRUE(data->fields[1].members.at(0).is_hex);
}

TEST(HitData, latencies_in_expressions_need_the_cycle_counter) {
  Sample sample({returns("work", {.condition = "latency_ns > 1000"})});
  sample.options.clock = ClockChoice::kTsc;
  EXPECT_TRUE(data_of(sample));
  sample.options.clock = ClockChoice::kMonotonic;
  EXPECT_THAT(fields_of(data_of(sample)), ElementsAre(HasSubstr("latency_ns needs the CPU's cycle counter")));
}

// "n == 0 || n == 2 || ...", as a balanced tree.
std::string many_comparisons(int first, int end) {
  if (end - first == 1) return "n * pair->first == " + std::to_string(first);
  const int middle = (first + end) / 2;
  return "(" + many_comparisons(first, middle) + " || " + many_comparisons(middle, end) + ")";
}

TEST(HitData, what_takes_too_many_steps_is_refused_where_it_is_written) {
  const std::string large = many_comparisons(0, 150);
  const auto too_large = [](const char* option) {
    return ElementsAre(testing::AllOf(testing::StartsWith(option), HasSubstr("make it shorter")));
  };
  EXPECT_THAT(fields_of(data_of(entry("work", {.condition = large}))), too_large("--filter"));
  EXPECT_THAT(fields_of(data_of(entry("work", {.captures = {large}}))), too_large("--capture"));
}

}  // namespace
}  // namespace blip::session
