// SPDX-License-Identifier: MIT
#include "script/blocks/split.h"

#include <gmock/gmock.h>

#include "script/blocks/test_blocks.h"
#include "script/blocks/test_random_blocks.h"
#include "script/ir/test_programs.h"
#include "script/ir/verify.h"
#include "script/run/test_run.h"

namespace blip::script {
namespace {

constexpr const char* kDeclarations =
    "map 0 \"n\" (i64) i64 limit 10 fail kept\nformat 0 \"\" (i64)\nformat 1 \"\" (str)\n";

// A handler whose first lines are those of function h.
Program handler(const std::string& lines) {
  return verified(std::string(kDeclarations) + "function h probe 0 at hit\n  local 0 i64\n" + lines + "\n");
}

std::string refusal(const std::string& lines) {
  const Program program = handler(lines);
  const auto made = split(program, program.functions[0]);
  return made ? "" : made.error().message();
}

TEST(Split, a_condition_at_the_beginning_becomes_the_filter) {
  const Program program = handler(
      "b0: v0 = register 7\nv2 = less 2 v0\nbranch v2 b1 b2\nb1: v0 = register 7\nv1 = load "
      "4 v0\n"
      "v2 = add_to 0 (v1) 1\nreturn\nb2: return");
  const Split made = split(program, program.functions[0]).value();
  EXPECT_NE(made.target.condition, kNone);
  ASSERT_EQ(made.target.outputs.size(), 1U);
  EXPECT_EQ(made.target.outputs[0].kind, Output::Kind::kValue);
  Program rest = program;
  rest.functions = {made.rest};
  EXPECT_TRUE(verify(rest));
  EXPECT_EQ(made.rest.blocks[0].end.kind, Terminator::Kind::kJump);
  EXPECT_THAT(print(rest, made.rest), testing::HasSubstr("captured 0\n"));
}

TEST(Split, a_condition_that_may_fault_stays_unless_it_has_a_default) {
  const auto condition = [](const std::string& last) {
    const Program program =
        handler("b0: v0 = register 7\nv1 = load 4 v0\n" + last + "\nb1: emit 0 (1)\nreturn\nb2: return");
    return split(program, program.functions[0]).value().target.condition;
  };
  EXPECT_EQ(condition("branch v1 b1 b2"), kNone) << "the failure has to be told";
  EXPECT_NE(condition("v2 = default v1 0\nbranch v2 b1 b2"), kNone);
  EXPECT_EQ(condition("v2 = default v1 0\nbranch v2 b2 b1"), kNone) << "a fault leads on";
  EXPECT_EQ(condition("v2 = default v1 1\nbranch v2 b1 b2"), kNone);
}

TEST(Split, texts_are_captured_up_to_their_length) {
  const Program program = handler("b0: v0 = register 7\nv1 = read_text 40 v0\nemit 1 (v1)\nreturn");
  const Split made = split(program, program.functions[0]).value();
  ASSERT_EQ(made.target.outputs.size(), 1U);
  EXPECT_EQ(made.target.outputs[0].kind, Output::Kind::kString);
  EXPECT_EQ(made.target.outputs[0].count, 40U);
  EXPECT_THAT(made.rest.captured, testing::ElementsAre(ValueType::kText));
}

TEST(Split, the_same_value_is_captured_once_and_nothing_for_nothing) {
  const Program program = handler(
      "b0: v0 = register 7\nv1 = register 7\nv2 = register 3\nemit 0 (v0)\nemit 0 (v1)\njump b1\nb1: v0 = "
      "register 7\nemit 0 (v0)\nreturn");
  EXPECT_EQ(split(program, program.functions[0]).value().target.outputs.size(), 1U);
}

TEST(Split, refuses_reads_that_need_what_blip_has) {
  const std::string reason = "the target is read by a value that only blip knows";
  EXPECT_EQ(refusal("b0: v0 = get 0 (1)\nv1 = load 8 v0\nemit 0 (v1)\nreturn"), "block 0, node 2: " + reason);
  EXPECT_EQ(refusal("b0: v0 = local 0\nv1 = read_text 8 v0\nemit 1 (v1)\nreturn"),
            "block 0, node 1: " + reason);
  EXPECT_EQ(refusal("b0: v0 = tid\nv1 = load 8 v0\nreturn"), "block 0, node 1: " + reason);
}

TEST(Split, refuses_too_much_for_one_hit) {
  std::string lines = "b0: v0 = register 1\n";
  for (int i = 1; i <= 17; ++i)
    lines += fmt::format("va{0} = add v0 {0}\nvt{0} = read_text 128 va{0}\nemit 1 (vt{0})\n", i);
  EXPECT_EQ(refusal(lines + "return"), "the handler needs too much of one hit");
}

// The handler as a whole, and what the pad would record with the rest of it.
class BothWays {
 public:
  BothWays(const Program& program, const Split& made) : program_(program), made_(made) {
    split_ = program;
    split_.functions[0] = made.rest;
  }
  const Program& split_program() const { return split_; }

  // Without a record the handler must have done nothing.
  void run(const TestMachine& machine, bool& has_record) {
    HitContext hit{.clock = 5, .tid = 4, .machine = &machine};
    whole_.run(program_, hit, {});
    const auto outputs = script::run(made_.target, machine);
    has_record = outputs.has_value();
    hit.machine = nullptr;
    if (has_record) later_.run(split_, hit, captured(*outputs));
    EXPECT_EQ(whole_.out(), later_.out()) << print(program_) << print(split_);
  }

 private:
  struct Side {
    explicit Side(const Program& program) : maps(maps_of(program)) {}
    void run(const Program& program, HitContext hit, const std::vector<CapturedValue>& captured) {
      hit.captured = captured;
      const Outcome outcome = Interpreter(program, maps, sink).run(0, hit);
      if (outcome.failure != Failure::kNothing) sink.out += "failed: " + outcome.message + "\n";
    }
    std::string out() const {
      std::string result = sink.out;
      for (const state::Map& map : maps) result += fmt::format("{} keys\n", map.size());
      return result;
    }
    std::vector<state::Map> maps;
    TestSink sink;
  };

  std::vector<CapturedValue> captured(const std::vector<OutputBytes>& outputs) const {
    std::vector<CapturedValue> result;
    for (size_t i = 0; i < outputs.size(); ++i) {
      CapturedValue c{.is_fault = outputs[i].is_fault};
      if (made_.rest.captured[i] == ValueType::kText)
        c.value.text = {reinterpret_cast<const char*>(outputs[i].bytes.data()), outputs[i].bytes.size()};
      else
        std::memcpy(&c.value.number, outputs[i].bytes.data(), sizeof c.value.number);
      result.push_back(c);
    }
    return result;
  }

  const Program& program_;
  const Split& made_;
  Program split_;
  Side whole_{program_}, later_{program_};
};

TEST(Split, random_handlers_do_the_same_in_two_parts) {
  std::mt19937_64 random(21);
  TestMachine machine;
  machine.put(5, "some bytes\0 that can be read", 28);
  int splits = 0, records = 0, filtered = 0, captured = 0;
  for (int i = 0; i < 300; ++i) {
    Program program = RandomBlocks(random).make_for_split();
    ASSERT_TRUE(verify(program)) << verify(program).error().message();
    const auto made = split(program, program.functions[0]);
    if (!made) continue;
    ++splits;
    captured += static_cast<int>(made->rest.captured.size());
    BothWays both(program, *made);
    const Status valid = verify(both.split_program());
    ASSERT_TRUE(valid) << valid.error().message() << print(both.split_program());
    ASSERT_TRUE(verify(made->target));
    for (int run = 0; run < 4; ++run) {
      for (uint64_t& r : machine.registers) r = random() % 30;
      machine.registers[4] = 5;
      bool has_record = false;
      both.run(machine, has_record);
      ++(has_record ? records : filtered);
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GT(splits, 200);
  EXPECT_GT(captured, 100);
  EXPECT_GT(filtered, 20);
  EXPECT_GT(records, 200);
}

}  // namespace
}  // namespace blip::script
