// SPDX-License-Identifier: MIT
#include "script/front/function_builder.h"

#include <gmock/gmock.h>

#include <cstring>
#include <functional>

#include "script/blocks/split.h"
#include "script/blocks/text.h"
#include "script/blocks/verify.h"
#include "script/front/target_names.h"
#include "script/run/test_run.h"
#include "script/test_scope.h"

namespace blip::script {
namespace {

using Where = Value::Where;

class FunctionBuilderTest : public testing::Test {
 protected:
  FunctionBuilder builder(Function::Place place = Function::Place::kHit, bool fault_is_zero = false) {
    return {program_, {.name = "h", .probe = 0, .place = place, .fault_is_zero = fault_is_zero}};
  }

  // What comes out of the handler as a whole, and of its two parts, which must be the same.
  std::string ran(FunctionBuilder& builder) {
    auto function = builder.finish();
    EXPECT_TRUE(function) << function.error().message();
    if (!function) return "";
    program_.functions.push_back(*function);
    const Status valid = verify(program_);
    EXPECT_TRUE(valid) << valid.error().message() << print(program_);
    const std::string whole = run({.machine = &target_.machine});
    if (function->place == Function::Place::kHit) {
      EXPECT_EQ(ran_in_parts(*function), whole);
    }
    return whole;
  }

  std::string run(const HitContext& hit) {
    TestSink sink;
    std::vector<state::Map> maps = maps_of(program_);
    Interpreter interpreter(program_, maps, sink);
    const Outcome outcome = interpreter.run(0, hit);
    if (outcome.failure != Failure::kNothing) sink.out += "failed: " + outcome.message + "\n";
    return sink.out;
  }

  std::string ran_in_parts(const Function& function) {
    const auto parts = split(program_, function);
    EXPECT_TRUE(parts) << parts.error().message() << print(program_);
    if (!parts) return "";
    program_.functions[0] = parts->rest;
    const auto record = script::run(parts->target, target_.machine);
    if (!record) return "";
    std::vector<CapturedValue> captured;
    for (size_t i = 0; i < record->size(); ++i)
      captured.push_back(value_of((*record)[i], parts->target.outputs[i]));
    return run({.captured = captured});
  }

  static CapturedValue value_of(const OutputBytes& output, const Output& kind) {
    CapturedValue c{.is_fault = output.is_fault};
    const auto* bytes = reinterpret_cast<const char*>(output.bytes.data());
    if (kind.kind == Output::Kind::kValue)
      std::memcpy(&c.value.number, bytes, output.bytes.size());
    else
      c.value.text = {bytes, output.bytes.size()};
    return c;
  }

  Program program_;
  TestProgram target_;
};

constexpr uint64_t kArgument = 7;  // rdi, which has the address of the request

TEST_F(FunctionBuilderTest, what_is_constant_is_computed_while_building) {
  FunctionBuilder f = builder();
  const Value sum = f.op(Op::kAdd, f.constant(2), f.constant(3));
  EXPECT_EQ(f.constant_of(sum), 5U);
  f.emit(f.format("", {sum}), {sum});
  EXPECT_EQ(ran(f), "emit 0 5\n");
}

TEST_F(FunctionBuilderTest, a_variable_with_an_address_can_be_followed_at_the_hit) {
  FunctionBuilder f = builder();
  const uint32_t local = f.add_local(ValueType::kNumber), yes = f.new_block(), after = f.new_block();
  f.set(local, f.pool_value(f.pool().add({.op = Op::kRegister, .value = kArgument})));
  f.branch(f.observe(BlockOp::kTid), after, yes);
  f.begin(yes);
  const Value address = f.get(local);
  ASSERT_EQ(address.where, Where::kPool);
  const Value id = f.pool_value(f.pool().load(address.node, 4, true));
  f.emit(f.format("", {id}), {id});
  f.begin(after);
  EXPECT_EQ(ran(f), "emit 0 -5\n");
}

TEST_F(FunctionBuilderTest, behind_branches_that_set_it_a_variable_is_a_local) {
  FunctionBuilder f = builder(Function::Place::kBlip);
  const uint32_t local = f.add_local(ValueType::kNumber), yes = f.new_block(), no = f.new_block(),
                 after = f.new_block();
  f.set(local, f.constant(1));
  f.branch(f.observe(BlockOp::kTid), yes, no);
  f.begin(yes);
  f.set(local, f.constant(2));
  f.jump(after);
  f.begin(no);
  EXPECT_EQ(f.constant_of(f.get(local)), 1U);
  f.jump(after);
  f.begin(after);
  const Value v = f.get(local);
  EXPECT_EQ(v.where, Where::kBlock);
  f.emit(f.format("", {v}), {v});
  EXPECT_EQ(ran(f), "emit 0 1\n");
}

TEST_F(FunctionBuilderTest, loops_have_a_budget_and_forget_what_they_set) {
  FunctionBuilder f = builder(Function::Place::kBlip);
  const uint32_t i = f.add_local(ValueType::kNumber), head = f.new_block(), body = f.new_block(),
                 after = f.new_block();
  f.set(i, f.constant(1));
  f.begin_loop(head, std::vector<uint32_t>{i});
  f.branch(f.op(Op::kLess, f.get(i), f.constant(4)), body, after);
  f.begin(body);
  f.emit(f.format("", {f.constant(0)}), {f.get(i)});
  f.set(i, f.op(Op::kAdd, f.get(i), f.constant(1)));
  f.jump(head);
  f.begin(after);
  EXPECT_EQ(ran(f), "emit 0 1\nemit 0 2\nemit 0 3\n");
}

TEST_F(FunctionBuilderTest, a_loop_that_sets_what_it_was_not_said_to_set_is_refused) {
  FunctionBuilder f = builder(Function::Place::kBlip);
  const uint32_t i = f.add_local(ValueType::kNumber), head = f.new_block(), after = f.new_block();
  f.set(i, f.constant(1));
  f.begin_loop(head, {});
  f.set(i, f.constant(2));
  f.branch(f.observe(BlockOp::kTid), head, after);
  f.begin(after);
  EXPECT_FALSE(f.finish());
}

TEST_F(FunctionBuilderTest, faults_fail_or_are_zero) {
  for (const bool is_zero : {false, true}) {
    program_ = {};
    FunctionBuilder f = builder(Function::Place::kHit, is_zero);
    const Value v = f.pool_value(f.pool().load(f.pool().constant(16), 8));
    f.emit(f.format("", {v}), {v});
    const Value text = f.read_text(f.constant(16), 10);
    f.emit(f.format("", {text}), {text});
    EXPECT_EQ(ran(f), is_zero ? "emit 0 0\nemit 1 \"\"\n" : "failed: memory that cannot be read\n");
  }
}

TEST_F(FunctionBuilderTest, a_kept_value_goes_from_block_to_block) {
  FunctionBuilder f = builder(Function::Place::kBlip);
  const uint32_t next = f.new_block();
  program_.maps = {{.name = "m", .key = {ValueType::kText}, .limit = 10}};
  const Value key = f.text("key");
  const Value sum = f.keep(f.add_to(0, {key}, f.constant(7)));
  const Value text = f.keep(f.apply("print_number", {sum}));
  f.jump(next);
  f.begin(next);
  f.emit(f.format("", {sum, text}), {sum, text});
  f.erase(0, {key});
  f.emit(f.format("", {sum}), {f.get(0, {key})});
  EXPECT_EQ(ran(f), "emit 0 7 \"7\"\nemit 1 0\n");
}

TEST_F(FunctionBuilderTest, maps_are_walked) {
  FunctionBuilder f = builder(Function::Place::kBlip);
  program_.maps = {{.name = "m", .key = {ValueType::kNumber, ValueType::kText}, .limit = 10}};
  for (const uint64_t n : {3, 1, 2}) f.put(0, {f.constant(n), f.text("x")}, f.constant(n * 10));
  const uint32_t walk = f.add_walk(0), head = f.new_block(), body = f.new_block(), after = f.new_block();
  f.walk(walk, f.constant(2), {.by = state::Order::By::kKey, .is_descending = true});
  f.begin_loop(head, {});
  f.branch(f.next(walk), body, after);
  f.begin(body);
  const FunctionBuilder::Values line = {f.walk_key(walk, 0), f.walk_key(walk, 1), f.walk_value(walk)};
  f.emit(f.format("", line), line);
  f.jump(head);
  f.begin(after);
  EXPECT_EQ(ran(f), "emit 0 3 \"x\" 30\nemit 0 2 \"x\" 20\n");
}

TEST_F(FunctionBuilderTest, failures_are_caught) {
  FunctionBuilder f = builder(Function::Place::kBlip);
  const uint32_t caught = f.new_block(), after = f.new_block();
  f.on_failure(caught);
  f.fail(f.text("wrong"));
  f.on_failure(kNone);
  f.begin(caught);
  const Value message = f.failure();
  f.emit(f.format("", {message}), {message});
  f.begin(after);
  EXPECT_EQ(ran(f), "emit 0 \"wrong\"\n");
}

TEST_F(FunctionBuilderTest, deep_expressions_become_flat) {
  FunctionBuilder f = builder(Function::Place::kBlip);
  Value sum = f.observe(BlockOp::kTid);
  Value pooled = f.pool_value(f.pool().add({.op = Op::kEntryValue}));
  for (int i = 0; i < 60; ++i) pooled = f.op(Op::kMul, f.op(Op::kNeg, pooled), f.constant(3));
  EXPECT_EQ(pooled.where, Where::kBlock);
  f.emit(f.format("", {sum}), {sum});
  EXPECT_EQ(ran(f), "emit 0 0\n");
}

TEST_F(FunctionBuilderTest, too_many_variables_are_refused) {
  FunctionBuilder f = builder(Function::Place::kBlip);
  std::vector<uint32_t> locals;
  for (size_t i = 0; i <= kMaxLocals; ++i) {
    locals.push_back(f.add_local(ValueType::kNumber));
    f.set(locals.back(), f.observe(BlockOp::kTid));
  }
  for (const uint32_t local : locals) f.emit(f.format("", {f.constant(0)}), {f.get(local)});
  const auto made = f.finish();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message(), "the handler is too large: it has 65 variables, and 64 are possible");
}

class TargetNamesTest : public FunctionBuilderTest {
 protected:
  HitScopes scopes() { return {.scope = &target_.scope}; }

  std::string shown(const std::function<Result<Operand>(TargetNames&)>& find, const HitScopes& at) {
    program_ = {};
    FunctionBuilder f = builder();
    TargetNames names(f.pool(), at);
    const auto operand = find(names);
    if (!operand) return operand.error().message();
    const auto node = names.number(*operand);
    if (!node) return node.error().message();
    const Value v = f.pool_value(*node);
    f.emit(f.format("", {v}), {v});
    return ran(f);
  }
  std::string shown(const std::function<Result<Operand>(TargetNames&)>& find) {
    return shown(find, scopes());
  }
};

TEST_F(TargetNamesTest, members_and_elements_of_variables) {
  EXPECT_EQ(shown([](TargetNames& n) -> Result<Operand> {
              TRY(Operand o, n.variable("req"));
              TRY(o, n.member(o, "headers"));
              TRY(o, n.element(o, n.given(n.pool().constant(2), int_type(8, true))));
              return n.member(o, "size");
            }),
            "emit 0 102\n");
  EXPECT_EQ(shown([](TargetNames& n) { return n.variable("n"); }), "emit 0 5\n");
  EXPECT_THAT(shown([](TargetNames& n) { return n.variable("nothing"); }),
              testing::HasSubstr("there is no variable 'nothing' here"));
}

TEST_F(TargetNamesTest, casts_registers_and_arguments) {
  EXPECT_EQ(shown([](TargetNames& n) -> Result<Operand> {
              TRY(Operand o, n.argument(0));
              TRY(o, n.cast(o, *type_name_of("struct request *")));
              return n.member(o, "id");
            }),
            "emit 0 -5\n");
  EXPECT_EQ(shown([](TargetNames& n) { return n.reg("esi"); }), "emit 0 5\n");
  EXPECT_EQ(shown([](TargetNames& n) -> Result<Operand> {
              TRY(const Operand o, n.variable("numbers"));
              return n.dereference(o);
            }),
            "emit 0 10\n");
  EXPECT_EQ(shown([](TargetNames& n) -> Result<Operand> {
              TRY(const Operand o, n.variable("copy"));
              return n.size(o);
            }),
            fmt::format("emit 0 {}\n", sizeof(TestProgram::Request)));
}

TEST_F(TargetNamesTest, types_by_name) {
  EXPECT_EQ(type_name_of("unsigned long int")->base, "unsigned long");
  EXPECT_EQ(type_name_of("struct request **")->pointers, 2U);
  EXPECT_FALSE(type_name_of("1"));
  EXPECT_FALSE(type_name_of("struct request * x"));
}

TEST_F(TargetNamesTest, characters_are_found_in_pointers_and_arrays) {
  FunctionBuilder f = builder();
  TargetNames names(f.pool(), scopes());
  for (const char* member : {"path", "name"}) {
    const auto whole = names.variable("req");
    ASSERT_TRUE(whole);
    const auto operand = names.member(*whole, member);
    ASSERT_TRUE(operand);
    const auto found = names.characters(*operand);
    ASSERT_TRUE(found) << found.error().message();
    const Value text = f.read_text(f.pool_value(found->address), 20);
    f.emit(f.format("", {text}), {text});
  }
  EXPECT_EQ(ran(f), "emit 0 \"/admin\"\nemit 0 \"worker\"\n");
}

TEST_F(TargetNamesTest, a_return_keeps_what_it_needs_of_the_entry) {
  const HitScopes at{.scope = &target_.scope, .is_return = true, .entry = &target_.scope};
  FunctionBuilder f = builder();
  TargetNames names(f.pool(), at);
  ASSERT_TRUE(names.variable("n", {}, true));
  EXPECT_EQ(names.kept().outputs.size(), 1U);
  EXPECT_EQ(names.kept().code.nodes.size(), 1U);
  EXPECT_TRUE(names.return_word());
  EXPECT_THAT(shown([](TargetNames& n) { return n.variable("n"); }, at), testing::HasSubstr("use entry(n)"));
}

}  // namespace
}  // namespace blip::script
