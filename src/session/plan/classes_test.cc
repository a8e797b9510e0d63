// SPDX-License-Identifier: MIT
#include "session/plan/classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/plan/contexts.h"

namespace blip::session {
namespace {

using testing::ElementsAre;

std::vector<std::string> names(const ctf::EventClass& c) {
  std::vector<std::string> all;
  for (const ctf::Field& f : c.fields) all.push_back(f.name);
  return all;
}

Options one_request(Mode mode, std::vector<Context> contexts) {
  Options options;
  options.no_tid = true;
  options.mode = mode;
  options.follow_fork = false;
  options.probes.push_back({*elf::parse_spec("f*"), std::move(contexts)});
  return options;
}

std::vector<ProbedPlace> functions(size_t n) {
  std::vector<ProbedPlace> all;
  for (size_t i = 0; i < n; ++i)
    all.push_back({.name = "f" + std::to_string(i), .module = "m", .addr = FileAddr(i), .ip = 0x1000 + i});
  return all;
}

struct Made {
  std::vector<ctf::EventClass> classes;
  std::vector<jit::Action> actions;
};

Made make(const Options& options, size_t n) {
  ClassTable table(options);
  auto actions = table.add(functions(n)).value();
  return {table.classes(), std::move(actions)};
}

TEST(Classes, contexts_come_before_registers) {
  const auto table =
      make(one_request(Mode::kRecord,
                       {{&contexts::kRegister, "rdi"}, {&contexts::kTid, {}}, {&contexts::kCpu, {}}}),
           1);
  EXPECT_THAT(names(table.classes[0]), ElementsAre("vtid", "cpu", "rdi"));
  EXPECT_EQ(table.actions[0].fields[2].capture, jit::Capture::kRegister);
  EXPECT_EQ(table.actions[0].fields[2].reg, 7);
  EXPECT_EQ(table.actions[0].fields[2].offset, 16);
  EXPECT_EQ(table.actions[0].record_size, 24u);
}

TEST(Classes, live_events_carry_the_thread_once) {
  EXPECT_THAT(names(make(one_request(Mode::kTrace, {{&contexts::kTid, {}}}), 1).classes[0]),
              ElementsAre("vtid"));
}

TEST(Classes, recorded_events_carry_the_thread_unless_it_is_not_wanted) {
  Options options = one_request(Mode::kRecord, {{&contexts::kRegister, "rdi"}});
  options.probes.push_back(options.probes[0]);
  options.probes[1].kind = ProbeKind::kEveryInstruction;
  for (const bool no_tid : {false, true}) {
    options.no_tid = no_tid;
    ClassTable table(options);
    auto places = functions(2);
    places[1].request = 1;
    ASSERT_TRUE(table.add(places));
    const auto tids = [&](size_t i) {
      return testing::Matches(testing::Contains("vtid"))(names(table.classes()[i]));
    };
    EXPECT_EQ(tids(0), !no_tid);
    EXPECT_EQ(tids(1), !no_tid);
  }
}

TEST(Classes, the_thread_of_a_return_costs_no_room) {
  Options options = one_request(Mode::kRecord, {});
  options.probes[0].kind = ProbeKind::kReturn;
  EXPECT_EQ(make(options, 1).actions[0].record_size, 32u);
  options.no_tid = false;
  const auto table = make(options, 1);
  EXPECT_THAT(names(table.classes[0]), ElementsAre("vtid", "ret", "latency_ns", "depth", "tail"));
  EXPECT_EQ(table.actions[0].record_size, 32u);
}

TEST(Classes, all_registers_are_eighteen_fields) {
  const auto table = make(one_request(Mode::kRecord, {{&contexts::kAllRegisters, {}}}), 1);
  EXPECT_EQ(table.classes[0].fields.size(), 18u);
  EXPECT_EQ(table.classes[0].record_size, 8u + 18 * 8);
}

TEST(Classes, each_function_has_its_own_up_to_the_limit) {
  const auto table = make(one_request(Mode::kRecord, {}), kMaxOwnClasses);
  EXPECT_EQ(table.classes.size(), kMaxOwnClasses);
  EXPECT_EQ(table.classes[5].name, "f5");
  EXPECT_EQ(table.classes[5].id, 7);
}

TEST(Classes, beyond_the_limit_functions_share_one_that_tells_the_address) {
  const auto table = make(one_request(Mode::kRecord, {}), kMaxOwnClasses + 1);
  ASSERT_EQ(table.classes.size(), 1u);
  EXPECT_EQ(table.classes[0].name, "f*");
  EXPECT_THAT(names(table.classes[0]), ElementsAre("ip"));
  EXPECT_EQ(table.actions[3].class_id, table.actions[4].class_id);
  EXPECT_EQ(table.actions[3].fields[0].value, 0x1003u);
}

TEST(Classes, what_has_no_room_adds_nothing) {
  const Options options = one_request(Mode::kCount, {});
  ClassTable table(options);
  ASSERT_TRUE(table.add(functions(10)));
  const auto refused = table.add(functions(30), abi::kFirstClass + 20);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), testing::HasSubstr("the trace has no room for its events"));
  EXPECT_EQ(table.classes().size(), 10u);
  const auto actions = table.add(functions(20), abi::kFirstClass + 20);
  ASSERT_TRUE(actions);
  EXPECT_EQ(table.classes().size(), 20u);
  EXPECT_EQ(actions->back().class_id, abi::kFirstClass + 19u);
  EXPECT_EQ(table.classes().back().name, "f19");
}

TEST(Classes, later_ones_share_one_where_there_is_no_room_for_each) {
  const Options options = one_request(Mode::kRecord, {});
  ClassTable table(options);
  ASSERT_TRUE(table.add(functions(10)));
  const auto actions = table.add(functions(30), abi::kFirstClass + 12);
  ASSERT_TRUE(actions);
  ASSERT_EQ(table.classes().size(), 11u);
  EXPECT_EQ(table.classes().back().name, "f*");
  EXPECT_EQ(actions->front().class_id, actions->back().class_id);
}

TEST(Classes, a_trace_has_few_whatever_comes_later) {
  const Options options = one_request(Mode::kRecord, {});
  ClassTable table(options);
  ASSERT_TRUE(table.add(functions(kMaxOwnClasses)));
  ASSERT_TRUE(table.add(functions(kMaxOwnClasses)));  // the same in another process
  EXPECT_EQ(table.classes().size(), kMaxOwnClasses);
  std::vector<ProbedPlace> later = functions(2);
  for (ProbedPlace& place : later) place.module = "late";
  ASSERT_TRUE(table.add(later));
  EXPECT_EQ(table.classes().size(), kMaxOwnClasses + 1);
}

TEST(Classes, every_instruction_shares_one_that_tells_the_address) {
  Options options = one_request(Mode::kRecord, {{&contexts::kRegister, "rdi"}});
  options.probes.push_back(options.probes[0]);
  options.probes[1].kind = ProbeKind::kEveryInstruction;
  auto places = functions(4);
  places[2].request = places[3].request = 1;
  ClassTable table(options);
  const auto actions = table.add(places).value();
  ASSERT_EQ(table.classes().size(), 3u);
  EXPECT_THAT(names(table.classes()[0]), ElementsAre("rdi"));
  EXPECT_THAT(names(table.classes()[2]), ElementsAre("ip", "rdi"));
  EXPECT_EQ(table.classes()[2].name, "f*");
  EXPECT_EQ(actions[2].class_id, actions[3].class_id);
  EXPECT_EQ(actions[3].fields[0].value, 0x1003u);
}

TEST(Classes, counting_every_instruction_tells_them_apart) {
  Options options = one_request(Mode::kCount, {});
  options.probes[0].kind = ProbeKind::kEveryInstruction;
  EXPECT_EQ(make(options, 4).classes.size(), 4u);
}

TEST(Classes, all_places_of_a_line_have_one) {
  for (Mode mode : {Mode::kRecord, Mode::kCount}) {
    Options options = one_request(mode, {});
    options.probes[0].kind = ProbeKind::kLine;
    auto places = functions(3);
    for (ProbedPlace& place : places) place.name = "a.c:7";
    ClassTable table(options);
    const auto actions = table.add(places).value();
    EXPECT_EQ(table.classes().size(), 1u);
    EXPECT_EQ(actions[0].class_id, actions[2].class_id);
  }
}

TEST(Classes, the_pid_leads_but_is_not_in_the_ring) {
  Options options = one_request(Mode::kRecord, {{&contexts::kRegister, "rdi"}, {&contexts::kTid, {}}});
  options.follow_fork = true;
  const auto table = make(options, 1);
  EXPECT_THAT(names(table.classes[0]), ElementsAre("vpid", "vtid", "rdi"));
  EXPECT_TRUE(table.classes[0].leads_with_pid && table.classes[0].fields[0].is_implicit);
  EXPECT_EQ(table.actions[0].fields[0].offset, 8);
  EXPECT_EQ(table.actions[0].fields[1].offset, 12);
  EXPECT_EQ(table.actions[0].record_size, 24u);
}

TEST(Classes, processes_share_the_class_of_a_function) {
  const Options options = one_request(Mode::kRecord, {});
  ClassTable table(options);
  const auto first = table.add(functions(3)).value();
  auto others = functions(4);
  others[1].ip = 0x9000;
  const auto second = table.add(others).value();
  EXPECT_EQ(table.classes().size(), 4u);
  EXPECT_EQ(first[1].class_id, second[1].class_id);
  others[1].addr = FileAddr(77);  // another function of that name
  EXPECT_EQ(table.add(others).value()[1].class_id, 6);
}

TEST(Classes, counting_needs_no_fields_and_one_class_per_function) {
  const auto table = make(one_request(Mode::kCount, {{&contexts::kTid, {}}}), kMaxOwnClasses + 1);
  EXPECT_EQ(table.classes.size(), kMaxOwnClasses + 1);
  EXPECT_TRUE(table.actions[0].fields.empty());
  EXPECT_EQ(table.actions[0].effect, jit::Effect::kCount);
}

TEST(Classes, stacks_want_the_process_and_an_address_in_front) {
  Options options = one_request(Mode::kRecord, {{&contexts::kBacktrace}});
  options.probes.push_back({*elf::parse_spec("g"), {}});
  ClassTable table(options);
  auto places = functions(2);
  places[1].request = 1;
  places[1].is_entry = true;
  const auto actions = table.add(places).value();
  EXPECT_THAT(names(table.classes()[0]), ElementsAre("vpid", "ip", "stack_id", "stack_info", "backtrace"));
  EXPECT_THAT(names(table.classes()[1]), ElementsAre("vpid", "ip")) << "in every event of the trace";
  EXPECT_TRUE(table.classes()[0].has_hit_word);
  EXPECT_TRUE(table.classes()[0].outputs.at(0).is_added);
  EXPECT_EQ(actions[0].stack_at, places[0].ip);
  EXPECT_EQ(actions[1].stack_at, 0u);
  EXPECT_THAT(actions[0].fields,
              testing::Contains(testing::Field(&jit::Field::capture, jit::Capture::kHitWord)));
  places[0].is_entry = true;
  EXPECT_EQ(table.add(places)->front().stack_at, places[0].ip | abi::kHitAtEntry);
}

TEST(Classes, live_stacks_want_the_process_only_where_they_are_asked_for) {
  Options options = one_request(Mode::kTrace, {{&contexts::kBacktrace}});
  options.probes.push_back({*elf::parse_spec("g"), {}});
  ClassTable table(options);
  auto places = functions(2);
  places[1].request = 1;
  ASSERT_TRUE(table.add(places));
  EXPECT_THAT(names(table.classes()[0]), testing::Contains("vpid"));
  EXPECT_TRUE(table.classes()[0].fields[0].is_implicit);
  EXPECT_THAT(names(table.classes()[1]), ElementsAre("vtid"));
}

TEST(Classes, the_pid_is_not_implicit_if_it_is_asked_for) {
  Options options = one_request(Mode::kRecord, {{&contexts::kPid}});
  options.process_name = "workers";
  EXPECT_FALSE(make(options, 1).classes[0].fields[0].is_implicit);
  options.probes[0].contexts.clear();
  EXPECT_TRUE(make(options, 1).classes[0].fields[0].is_implicit);
}

// One value of each kind; none but the first can be had without looking at memory.
HitData one_of_each() {
  HitData data;
  const uint32_t at = data.hit.code.add({.op = script::Op::kRegister, .value = 7});
  using Kind = script::Output::Kind;
  data.hit.outputs = {{.kind = Kind::kValue, .node = at, .size = 4},
                      {.kind = Kind::kBytes, .node = at, .count = 12},
                      {.kind = Kind::kString, .node = at, .size = 1, .count = 20},
                      {.kind = Kind::kSequence, .node = at, .length = at, .size = 2, .count = 5}};
  const ctf::Field byte{.name = "", .type = ctf::FieldType::kInt, .size = 1};
  const ctf::Field word{.name = "", .type = ctf::FieldType::kInt, .size = 2};
  data.fields = {{.name = "value", .type = ctf::FieldType::kInt, .output = 0, .size = 4},
                 {.name = "bytes", .type = ctf::FieldType::kArray, .output = 1, .size = 1, .count = 12},
                 {.name = "text", .type = ctf::FieldType::kText, .output = 2},
                 {.name = "words", .type = ctf::FieldType::kSequence, .output = 3, .size = 2}};
  data.fields[1].members = {byte};
  data.fields[3].members = {word};
  return data;
}

TEST(Classes, data_of_the_program_is_behind_a_hit_word) {
  const Options options = one_request(Mode::kRecord, {});
  ClassTable table(options);
  auto places = functions(1);
  places[0].data = one_of_each();
  const auto actions = table.add(places);
  ASSERT_TRUE(actions) << actions.error().message();
  const ctf::EventClass& c = table.classes()[0];
  EXPECT_THAT(names(c), ElementsAre("value", "bytes", "text", "words", "faults", "cut"));
  using Kind = ctf::RecordOutput::Kind;
  const Kind kinds[] = {Kind::kFixed, Kind::kFixed, Kind::kString, Kind::kSequence};
  const uint32_t sizes[] = {4, 12, 1, 2};
  ASSERT_EQ(c.outputs.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(c.outputs[i].kind, kinds[i]) << i;
    EXPECT_EQ(c.outputs[i].size, sizes[i]) << i;
    EXPECT_EQ(c.outputs[i].may_fault, i != 0) << i;
  }
  EXPECT_EQ(actions->front().output_offsets.size(), 4u);
  EXPECT_EQ(actions->front().hit.outputs.size(), 4u);
}

TEST(Classes, an_event_that_is_too_large_adds_nothing) {
  const Options options = one_request(Mode::kRecord, {});
  ClassTable table(options);
  auto places = functions(2);
  places[1].data = one_of_each();
  places[1].data.hit.outputs[2].count = 4000;
  const auto refused = table.add(places);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), testing::HasSubstr("f1: "));
  EXPECT_TRUE(table.classes().empty());
  places[1].data = one_of_each();
  EXPECT_EQ(table.add(places)->back().class_id, abi::kFirstClass + 1u);
}

TEST(Classes, places_of_a_line_share_one_if_their_records_look_the_same) {
  Options options = one_request(Mode::kRecord, {});
  options.probes[0].kind = ProbeKind::kLine;
  auto places = functions(4);
  for (ProbedPlace& place : places) {
    place.name = "a.c:7";
    place.data = one_of_each();
  }
  places[2].data.fields[0].is_signed = true;
  places[3].data.fields[0].labels = {{.value = 1, .name = "ONE"}};
  ClassTable table(options);
  const auto actions = table.add(places).value();
  EXPECT_EQ(actions[0].class_id, actions[1].class_id);
  EXPECT_NE(actions[0].class_id, actions[2].class_id);
  EXPECT_NE(actions[0].class_id, actions[3].class_id);
  EXPECT_EQ(table.classes().size(), 3u);
  EXPECT_FALSE(table.address_of(0)) << "it has several places";
}

TEST(Classes, copies_of_an_inlined_function_share_one_in_each_module) {
  const Options options = one_request(Mode::kRecord, {});
  auto places = functions(3);
  for (ProbedPlace& place : places) {
    place.name = "f (inlined in g)";
    place.is_inlined = true;
  }
  places[2].module = "another";
  ClassTable table(options);
  const auto actions = table.add(places).value();
  EXPECT_EQ(actions[0].class_id, actions[1].class_id);
  EXPECT_NE(actions[0].class_id, actions[2].class_id);
  EXPECT_EQ(table.module_of(1), "another");
}

TEST(Classes, who_made_them) {
  Options options = one_request(Mode::kRecord, {});
  options.probes.push_back({*elf::parse_spec("g"), {}});
  auto places = functions(2);
  places[1].request = 1;
  ClassTable table(options);
  ASSERT_TRUE(table.add(places));
  EXPECT_EQ(table.module_of(1), "m");
  EXPECT_EQ(table.request_of(1), 1u);
  EXPECT_EQ(table.address_of(1), 1u);
}

TEST(Classes, blip_writes_some_itself) {
  const Options options = one_request(Mode::kRecord, {});
  ClassTable table(options);
  const uint16_t own = table.add_own({.name = "blip:mapped",
                                      .context = {.name = "vtid", .type = ctf::FieldType::kInt32},
                                      .payload = {{.name = "size", .type = ctf::FieldType::kUint64}},
                                      .tells_files = true});
  const uint16_t life = table.add_life_record("exit");
  EXPECT_EQ(own, abi::kFirstClass);
  EXPECT_EQ(life, own + 1);
  EXPECT_THAT(names(table.classes()[0]), ElementsAre("vpid", "vtid", "size"));
  EXPECT_TRUE(table.classes()[0].of_blip && table.classes()[0].tells_files);
  EXPECT_THAT(names(table.classes()[1]), ElementsAre("vpid", "vtid", "value"));
  EXPECT_TRUE(table.classes()[1].tells_lives);
  EXPECT_EQ(table.add(functions(1))->front().class_id, life + 1u);
}

TEST(Classes, the_largest_record_of_requests_that_match_nothing_yet) {
  Options options = one_request(Mode::kRecord, {});
  options.probes.push_back({*elf::parse_spec("g"), {{&contexts::kAllRegisters}}});
  options.probes.push_back({*elf::parse_spec("h"), {}});
  options.probes[2].data.args = true;
  const ClassTable table(options);
  EXPECT_EQ(table.largest_record({false, false, false}), 0u);
  EXPECT_EQ(table.largest_record({true, false, false}), 16u);  // the header and ip
  EXPECT_EQ(table.largest_record({true, true, false}), 16u + 18 * 8);
  EXPECT_EQ(table.largest_record({true, true, true}), abi::kMaxRecordSize) << "nobody knows its arguments";
}

TEST(Classes, latencies_are_a_kind_of_counting) {
  Options options = one_request(Mode::kCount, {});
  options.latencies = true;
  EXPECT_EQ(make(options, 1).actions[0].effect, jit::Effect::kLatency);
}

}  // namespace
}  // namespace blip::session
