// SPDX-License-Identifier: MIT
// Random programs, run by the interpreter and by a second one that is as simple as can be: it looks at nodes when their value is
// needed, keeps maps as lists and stats as all their numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <variant>

#include "script/blocks/test_change_blocks.h"
#include "script/blocks/test_random_blocks.h"
#include "script/blocks/text.h"
#include "script/ir/test_programs.h"
#include "script/run/test_run.h"
#include "state/histogram.h"

namespace blip::script {
namespace {

struct Value {
  Failure fault = Failure::kNothing;
  uint64_t number = 0;
  std::string text;

  bool is_fault() const { return fault != Failure::kNothing; }
};

struct NaiveEntry {
  uint64_t serial;
  std::vector<Value> key;
  Value value;
  std::vector<uint64_t> numbers;  // of stats
};

bool are_equal(const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Value& x, const Value& y) { return x.number == y.number && x.text == y.text; });
}

struct NaiveMap {
  state::MapType type;
  std::deque<NaiveEntry> entries;  // the oldest first

  NaiveEntry* find(const std::vector<Value>& key) {
    for (NaiveEntry& e : entries)
      if (are_equal(e.key, key)) return &e;
    return nullptr;
  }
  // Null: no room.
  NaiveEntry* make(const std::vector<Value>& key, uint64_t serial) {
    if (NaiveEntry* found = find(key)) return found;
    if (entries.size() >= type.limit) {
      if (type.when_full != state::WhenFull::kReplaceOldest) return nullptr;
      entries.pop_front();
    }
    return &entries.emplace_back(NaiveEntry{.serial = serial, .key = key});
  }
  std::optional<uint64_t> statistic(const NaiveEntry* e, uint64_t which) const {
    const std::vector<uint64_t> none;
    const std::vector<uint64_t>& all = e ? e->numbers : none;
    uint64_t sum = 0;
    for (const uint64_t n : all) sum += n;
    if (which < 2) return which == 0 ? all.size() : sum;
    if (all.empty()) return std::nullopt;
    const auto is_less = [](uint64_t a, uint64_t b) {
      return static_cast<int64_t>(a) < static_cast<int64_t>(b);
    };
    if (which == 2) return *std::min_element(all.begin(), all.end(), is_less);
    if (which == 3) return *std::max_element(all.begin(), all.end(), is_less);
    return static_cast<uint64_t>(static_cast<int64_t>(sum) / static_cast<int64_t>(all.size()));
  }
};

class Naive {
 public:
  Naive(const Program& program, const HitContext& hit, const RunLimits& limits)
      : program_(program), hit_(hit), limits_(limits), budget_(limits.budget) {
    for (const state::MapType& type : program.maps) maps.push_back({type, {}});
  }

  std::string run() {
    budget_ = limits_.budget;
    depth_ = 0;
    failure_ = Failure::kNothing;
    message_.clear();
    call(0, {});
    if (failure_ != Failure::kNothing) sink.out += "failed: " + message_ + "\n";
    return std::move(sink.out);
  }

  std::vector<NaiveMap> maps;
  TestSink sink;

 private:
  struct Walk {
    std::vector<NaiveEntry> entries;
    size_t next = 0;
  };
  struct Frame {
    const Function* function;
    std::vector<Value> locals;
    std::vector<Walk> walks;
    const Block* block = nullptr;
    std::vector<std::optional<Value>> known;
  };

  bool fail(Failure why, const std::string& message = "") {
    failure_ = why;
    message_ = message.empty() ? message_of(why) : message;
    return false;
  }

  Value call(uint32_t which, const std::vector<Value>& arguments) {
    Frame f{.function = &program_.functions[which]};
    f.locals.resize(f.function->locals.size());
    std::copy(arguments.begin(), arguments.end(), f.locals.begin());
    f.walks.resize(f.function->walks.size());
    ++depth_;
    Value result;
    for (uint32_t at = 0; at != kNone;) {
      const Block& b = f.function->blocks[at];
      at = block(f, b, result);
      if (failure_ == Failure::kNothing) continue;
      at = failure_ < Failure::kBudget ? b.on_failure : kNone;
      if (at != kNone) failure_ = Failure::kNothing;
    }
    --depth_;
    return result;
  }

  uint32_t block(Frame& f, const Block& b, Value& result) {
    f.block = &b;
    f.known.assign(b.nodes.size(), std::nullopt);
    for (uint32_t i = 0; i < b.nodes.size(); ++i) {
      if (!is_in_order(b.nodes[i].op)) continue;
      f.known[i] = in_order(f, b.nodes[i]);
      if (failure_ != Failure::kNothing) return kNone;
    }
    const Value end = b.end.node == kNone ? Value{} : value(f, b.end.node);
    if (end.is_fault()) return fail(end.fault), kNone;
    switch (b.end.kind) {
      case Terminator::Kind::kReturn:
        result = end;
        return kNone;
      case Terminator::Kind::kJump:
        return b.end.targets[0];
      case Terminator::Kind::kBranch:
        return b.end.targets[end.number ? 0 : 1];
      case Terminator::Kind::kSwitch:
        for (size_t i = 0; i < b.end.cases.size(); ++i)
          if (b.end.cases[i] == end.number) return b.end.targets[i];
        return b.end.targets.back();
      case Terminator::Kind::kFail:
        fail(Failure::kScript, end.text);
    }
    return kNone;
  }

  Value value(Frame& f, uint32_t node) {
    if (!f.known[node]) f.known[node] = pure(f, f.block->nodes[node]);
    return *f.known[node];
  }

  Value cut(std::string text) const { return {.text = text.substr(0, program_.text_limit)}; }

  Value pure(Frame& f, const Node& n) {
    if (n.op == Op::kConstant) return {.number = n.value};
    if (is_lazy(n.op)) return lazy(f, n);
    const auto context = [&]() -> std::optional<uint64_t> {
      switch (block_op_of(n.op)) {
        case BlockOp::kClock:
          return hit_.clock;
        case BlockOp::kProbe:
          return hit_.probe;
        case BlockOp::kPid:
          return hit_.pid;
        case BlockOp::kTid:
          return hit_.tid;
        case BlockOp::kCpu:
          return hit_.cpu;
        case BlockOp::kUid:
          return hit_.uid;
        case BlockOp::kGid:
          return hit_.gid;
        default:
          return std::nullopt;
      }
    }();
    if (context) return {.number = *context};
    switch (block_op_of(n.op)) {
      case BlockOp::kText:
        return {.text = program_.texts[n.value]};
      case BlockOp::kStack:
        return {.fault = Failure::kRead};
      case BlockOp::kFailure:
        return cut(message_);
      case BlockOp::kCaptured: {
        const CapturedValue& c = hit_.captured[n.value];
        if (c.is_fault) return {.fault = Failure::kRead};
        return f.function->captured[n.value] == ValueType::kText ? cut(std::string(c.value.text))
                                                                 : Value{.number = c.value.number};
      }
      case BlockOp::kDefault: {
        const Value a = value(f, n.a);
        return a.is_fault() ? value(f, n.b) : a;
      }
      default:
        return computed(f, n);
    }
  }

  Value lazy(Frame& f, const Node& n) {
    const Value a = value(f, n.a);
    if (a.is_fault()) return a;
    if (n.op == Op::kSelect) return value(f, a.number ? n.b : n.c);
    if ((a.number != 0) == (n.op == Op::kLogicalOr)) return {.number = n.op == Op::kLogicalOr};
    const Value b = value(f, n.b);
    return b.is_fault() ? b : Value{.number = b.number != 0};
  }

  Value computed(Frame& f, const Node& n) {
    uint64_t operands[3] = {};
    unsigned count = 0;
    for (const uint32_t o : operands_of(n)) {
      const Value v = value(f, o);
      if (v.is_fault()) return v;
      operands[count++] = v.number;
    }
    if (n.op == BlockOp::kReadText) {
      std::string text;
      for (char c = 0; text.size() < n.value; text += c) {
        const bool is_there = hit_.machine->read(operands[0] + text.size(), &c, 1);
        if (!is_there && text.empty()) return {.fault = Failure::kRead};
        if (!is_there || c == 0) break;
      }
      return cut(text);
    }
    if (n.op == BlockOp::kReadBytes) {
      std::string bytes(std::min(operands[1], n.value), '\0');
      if (!bytes.empty() && !hit_.machine->read(operands[0], bytes.data(), bytes.size()))
        return {.fault = Failure::kRead};
      return cut(bytes);
    }
    Code code{.texts = program_.texts, .tables = program_.tables};
    Node last = n;
    last.a = code.constant(operands[0]);
    last.b = code.constant(operands[1]);
    const auto result = interpret(code, code.add(last), *hit_.machine);
    if (result) return {.number = *result};
    if (n.op == Op::kLookup) return {.fault = Failure::kLookup};
    return {.fault = n.op == Op::kDiv || n.op == Op::kMod ? Failure::kDivision : Failure::kRead};
  }

  bool take(uint64_t nodes) {
    if (nodes > budget_) return fail(Failure::kBudget);
    budget_ -= nodes;
    return true;
  }

  Value in_order(Frame& f, const Node& n) {
    std::vector<Value> list;
    Value operand;
    Failure fault = Failure::kNothing;
    for_each_use(*f.block, n, [&](uint32_t used) {
      const Value v = value(f, used);
      if (fault == Failure::kNothing) fault = v.fault;
    });
    if (fault != Failure::kNothing) return fail(fault), Value{};
    if (operation(n.op).list != ListIs::kNothing)
      for (uint32_t i = 0; i < n.b; ++i) list.push_back(value(f, f.block->lists[n.a + i]));
    if (operation(n.op).operands) operand = value(f, operands_of(n).nodes[0]);
    switch (operation(n.op).value) {
      case ValueIs::kMap:
        return of_map(n, maps[n.value], list, operand);
      case ValueIs::kWalk:
        return of_walk(f.walks[n.value], maps[f.function->walks[n.value]], n, operand);
      default:
        return other(f, n, list, operand);
    }
  }

  Value other(Frame& f, const Node& n, const std::vector<Value>& list, const Value& operand) {
    std::vector<Argument> arguments;
    const auto& types =
        n.op == BlockOp::kApply ? library()[n.value].parameters
        : n.op == BlockOp::kCall
            ? f.function->locals
            : program_.formats[std::min<uint64_t>(n.value, program_.formats.size() - 1)].arguments;
    for (size_t i = 0; i < list.size(); ++i) {
      if (n.op != BlockOp::kCall && types[i] == ValueType::kText)
        arguments.push_back({.text = list[i].text});
      else
        arguments.push_back({.number = list[i].number});
    }
    switch (block_op_of(n.op)) {
      case BlockOp::kLocal:
        return f.locals[n.value];
      case BlockOp::kSet:
        f.locals[n.value] = operand;
        return {};
      case BlockOp::kBudget:
        take(n.value);
        return {};
      case BlockOp::kExit:
        sink.exit(operand.number);
        return {};
      case BlockOp::kEmit:
        sink.emit(static_cast<uint32_t>(n.value), arguments);
        return {};
      case BlockOp::kSprint:
        return cut(sink.sprint(static_cast<uint32_t>(n.value), arguments));
      case BlockOp::kApply: {
        LibraryCall made{.arguments = arguments};
        library()[n.value].run(made);
        return library()[n.value].result == ValueType::kText ? cut(made.text) : Value{.number = made.number};
      }
      default: {  // kCall
        if (depth_ >= limits_.depth) return fail(Failure::kDepth), Value{};
        uint64_t nodes = 0;
        for (const Block& b : program_.functions[n.value].blocks) nodes += b.nodes.size() + 1;
        return take(nodes) ? call(static_cast<uint32_t>(n.value), list) : Value{};
      }
    }
  }

  Value of_map(const Node& n, NaiveMap& map, const std::vector<Value>& key, const Value& operand) {
    NaiveEntry* there = map.find(key);
    switch (block_op_of(n.op)) {
      case BlockOp::kGet:
        return there ? there->value : Value{};
      case BlockOp::kHas:
        return {.number = there != nullptr};
      case BlockOp::kSize:
        return {.number = map.entries.size()};
      case BlockOp::kDelete:
        if (there) map.entries.erase(map.entries.begin() + index_of(map, there));
        return {.number = there != nullptr};
      case BlockOp::kClear:
        map.entries.clear();
        return {};
      case BlockOp::kZero:
        for (NaiveEntry& e : map.entries) e = {.serial = e.serial, .key = e.key};
        return {};
      case BlockOp::kPrint:
        sink.out += "print " + std::to_string(n.value) +
                    (key.empty() ? "" : " key of " + std::to_string(bytes_of(map, key)) + " bytes") + "\n";
        return {};
      case BlockOp::kStatistic: {
        const auto result = map.statistic(there, n.width);
        return result ? Value{.number = *result} : Value{.fault = Failure::kEmpty};
      }
      default:
        break;
    }
    NaiveEntry* e = map.make(key, ++serial_);
    if (!e && map.type.when_full == state::WhenFull::kFail) return fail(Failure::kMapFull), Value{};
    if (!e) return n.op == BlockOp::kAddTo ? Value{.number = operand.number} : Value{};
    if (n.op == BlockOp::kTally) e->numbers.push_back(operand.number);
    if (n.op == BlockOp::kPut) e->value = operand;
    if (n.op != BlockOp::kAddTo) return {};
    e->value.number += operand.number;
    return e->value;
  }

  static ptrdiff_t index_of(const NaiveMap& map, const NaiveEntry* wanted) {
    for (size_t i = 0; i < map.entries.size(); ++i)
      if (&map.entries[i] == wanted) return static_cast<ptrdiff_t>(i);
    return 0;
  }

  static size_t bytes_of(const NaiveMap& map, const std::vector<Value>& key) {
    size_t bytes = 0;
    for (size_t i = 0; i < key.size(); ++i)
      bytes += map.type.key[i] == ValueType::kText ? 4 + key[i].text.size() : 8;
    return bytes;
  }

  Value of_walk(Walk& walk, NaiveMap& map, const Node& n, const Value& limit) {
    const auto is_there = [&](const NaiveEntry& e) {
      return std::any_of(map.entries.begin(), map.entries.end(),
                         [&](const NaiveEntry& x) { return x.serial == e.serial; });
    };
    if (n.op == BlockOp::kWalk) {
      walk = {.entries = {map.entries.begin(), map.entries.end()}};
      sort(walk.entries, map, order_of(n));
      if (walk.entries.size() > limit.number) walk.entries.resize(limit.number);
      take(walk.entries.size());
      return {};
    }
    if (n.op == BlockOp::kNext) {
      while (walk.next < walk.entries.size() && !is_there(walk.entries[walk.next])) ++walk.next;
      if (walk.next == walk.entries.size()) return {.number = 0};
      ++walk.next;
      return {.number = 1};
    }
    if (walk.next == 0 || !is_there(walk.entries[walk.next - 1])) return {};
    const NaiveEntry& e = walk.entries[walk.next - 1];
    return n.op == BlockOp::kWalkKey ? e.key[n.width] : map.find(e.key)->value;
  }

  void sort(std::vector<NaiveEntry>& entries, const NaiveMap& map, const state::Order& order) {
    using By = state::Order::By;
    const auto less = [&](const NaiveEntry& a, const NaiveEntry& b) {
      const auto by_value = [&](const Value& x, const Value& y, bool is_unsigned) {
        if (x.text != y.text) return x.text < y.text;
        return is_unsigned ? x.number < y.number
                           : static_cast<int64_t>(x.number) < static_cast<int64_t>(y.number);
      };
      switch (order.by) {
        case By::kAge:
          return a.serial < b.serial;
        case By::kKey:
          return by_value(a.key[order.which], b.key[order.which], false);
        case By::kValue:
          return by_value(a.value, b.value, map.type.is_unsigned);
        case By::kStatistic:
          break;
      }
      return static_cast<int64_t>(map.statistic(&a, order.which).value_or(0)) <
             static_cast<int64_t>(map.statistic(&b, order.which).value_or(0));
    };
    std::stable_sort(entries.begin(), entries.end(), [&](const NaiveEntry& a, const NaiveEntry& b) {
      return order.is_descending ? less(b, a) : less(a, b);
    });
  }

  const Program& program_;
  const HitContext& hit_;
  RunLimits limits_;
  uint64_t budget_, serial_ = 0;
  uint32_t depth_ = 0;
  Failure failure_ = Failure::kNothing;
  std::string message_;
};

std::string dump(const std::vector<state::Map>& maps) {
  std::string out;
  for (const state::Map& map : maps)
    for (const auto& step : map.walk({}, UINT64_MAX)) {
      const state::Stats& stats = map.stats_of(step);
      out += fmt::format("{}: {} {} {} {}\n", map.type().name, map.number_of(step), map.text_of(step),
                         stats.count, stats.sum);
    }
  return out;
}

std::string dump(const std::vector<NaiveMap>& maps) {
  std::string out;
  for (const NaiveMap& map : maps)
    for (const NaiveEntry& e : map.entries) {
      const uint64_t sum = *map.statistic(&e, 1);
      out += fmt::format("{}: {} {} {} {}\n", map.type.name, e.value.number, e.value.text, e.numbers.size(),
                         sum);
    }
  return out;
}

TEST(RandomBlocks, run_as_a_second_interpreter_does) {
  constexpr RunLimits kLimits{.budget = 3000, .depth = 6};
  constexpr size_t kStackPointer = 4;
  std::mt19937_64 random(3);
  TestMachine machine;
  machine.put(5, "some bytes\0 that can be read", 28);
  machine.fs = 7;
  std::map<Failure, int> failures;
  int lines = 0;
  for (int i = 0; i < 400; ++i) {
    const Program program = RandomBlocks(random).make();
    const Status valid = verify(program);
    ASSERT_TRUE(valid) << valid.error().message() << "\n" << print(program);
    ASSERT_EQ(print(parse_program(print(program)).value()), print(program));
    for (uint64_t& r : machine.registers) r = random() % 30;
    machine.registers[kStackPointer] = 5;
    const CapturedValue captured[] = {{.value = {.number = random() % 9}},
                                      {.value = {.text = "captured by the hit"}},
                                      {.is_fault = true},
                                      {.value = {.text = "b"}, .is_fault = random() % 2 == 0}};
    const HitContext hit{
        .clock = 5, .probe = 2, .pid = 3, .tid = 4, .captured = captured, .machine = &machine};
    TestSink sink;
    std::vector<state::Map> maps = maps_of(program);
    Interpreter interpreter(program, maps, sink, kLimits);
    Naive naive(program, hit, kLimits);
    for (int run = 0; run < 3; ++run) {
      sink.out.clear();
      const Outcome outcome = interpreter.run(0, hit);
      ++failures[outcome.failure];
      if (outcome.failure != Failure::kNothing) sink.out += "failed: " + outcome.message + "\n";
      lines += static_cast<int>(std::count(sink.out.begin(), sink.out.end(), '\n'));
      ASSERT_EQ(sink.out, naive.run()) << i << "\n" << print(program);
      ASSERT_EQ(dump(maps), dump(naive.maps)) << i << "\n" << print(program);
    }
  }
  EXPECT_GT(lines, 2000);
  for (const Failure why : {Failure::kNothing, Failure::kRead, Failure::kDivision, Failure::kScript,
                            Failure::kBudget, Failure::kMapFull})
    EXPECT_GT(failures[why], 0) << message_of(why);
}

// Does for a moment what the fuzzer does for long.
TEST(RandomBlocks, with_changes_are_refused_or_run) {
  std::mt19937_64 random(8);
  TestMachine machine;
  int valid = 0, refused = 0;
  for (int i = 0; i < 150; ++i) {
    const Program made = RandomBlocks(random).make();
    for (int changes = 0; changes < 40; ++changes) {
      Program program = made;
      for (size_t n = 1 + random() % 3; n > 0; --n)
        change(program, [&] { return static_cast<uint8_t>(random()); });
      if (!verify(program)) {
        ++refused;
        continue;
      }
      ++valid;
      ASSERT_EQ(print(parse_program(print(program)).value()), print(program));
      TestSink sink;
      std::vector<state::Map> maps = maps_of(program);
      Interpreter interpreter(program, maps, sink, {.budget = 500, .depth = 4});
      if (program.functions[0].parameters == 0) interpreter.run(0, {.machine = &machine});
    }
  }
  EXPECT_GT(valid, 500);
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace blip::script
