// SPDX-License-Identifier: MIT
#include "script/ir/test_programs.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "script/ir/verify.h"

namespace blip::script {

namespace {

constexpr uint8_t kWidths[] = {1, 2, 4, 8};

class Generator {
 public:
  Generator(std::mt19937_64& random, const ProgramOptions& options) : random_(random), options_(options) {}

  HitProgram make() {
    add_texts();
    add_tables();
    const size_t nodes = 1 + below(options_.most_nodes);
    while (program_.code.nodes.size() < nodes) add(random_node());
    if (below(2)) program_.condition = any();
    for (size_t n = below(options_.most_outputs + 1); n > 0; --n) program_.outputs.push_back(random_output());
    return std::move(program_);
  }

 private:
  uint64_t below(uint64_t n) { return n ? random_() % n : 0; }

  void add(Node node) {
    uint32_t depth = 1;
    const uint32_t operands[] = {node.a, node.b, node.c};
    for (unsigned i = 0; i < arity(node.op); ++i) depth = std::max(depth, depths_[operands[i]] + 1);
    if (depth > kMaxDepth) return;
    program_.code.add(node);
    depths_.push_back(depth);
  }

  void add_texts() {
    for (size_t n = 1 + below(3); n > 0; --n) {
      std::string text;
      for (size_t i = below(20); i > 0; --i) text += static_cast<char>('a' + below(3));
      program_.code.texts.push_back(text);
    }
  }

  void add_tables() {
    for (size_t n = 1 + below(2); n > 0; --n) {
      std::map<uint64_t, uint64_t> rows;
      for (size_t i = 1 + below(40); i > 0; --i)
        rows[below(3) ? below(64) : random_value(random_, options_)] = random_value(random_, options_);
      program_.code.tables.emplace_back(rows.begin(), rows.end());
    }
  }

  // Late ones more often, so that trees become deep.
  uint32_t any() {
    const size_t size = program_.code.nodes.size();
    return static_cast<uint32_t>(below(2) ? size - 1 - below(std::min<size_t>(size, 4)) : below(size));
  }

  Node random_node() {
    if (program_.code.nodes.empty() || below(3) == 0) return random_leaf();
    if (below(5) == 0 && !options_.addresses.empty()) return random_load();
    Node n{.op = static_cast<Op>(below(static_cast<uint64_t>(Op::kEntryValue) + 1))};
    if (arity(n.op) == 0) return random_leaf();
    n.width = kWidths[below(4)];
    n.is_signed = below(2);
    const unsigned operands = arity(n.op);
    n.a = any();
    n.b = operands > 1 ? any() : 0;
    n.c = operands > 2 ? any() : 0;
    if (n.op == Op::kTextEqual || n.op == Op::kTextPrefix || n.op == Op::kBytesEqual)
      n.value = below(program_.code.texts.size());
    if (n.op == Op::kLookup) n.value = below(program_.code.tables.size());
    return n;
  }

  // From where there is memory, or from what was loaded: most other loads fault.
  Node random_load() {
    add({.op = Op::kConstant, .value = random_address()});
    return {.op = Op::kLoad,
            .width = kWidths[below(4)],
            .is_signed = below(2) != 0,
            .a = static_cast<uint32_t>(program_.code.nodes.size() - 1)};
  }

  uint64_t random_address() {
    return options_.addresses[below(options_.addresses.size())] + below(options_.near);
  }

  Node random_leaf() {
    switch (below(options_.is_return ? 12 : 7)) {
      case 0:
        return {.op = Op::kVector, .width = static_cast<uint8_t>(below(2) ? 4 : 8), .value = below(16)};
      case 1:
        return {.op = Op::kVectorHigh, .value = below(16)};
      case 2:
        return {.op = below(2) ? Op::kFlags : Op::kThreadPointer};
      case 3:
        return {.op = Op::kLoadNear,
                .width = kWidths[below(4)],
                .is_signed = below(2) != 0,
                .value = below(std::max<uint64_t>(options_.stack_bytes, 9) - 8)};
      case 4:
      case 5:
        return {.op = Op::kRegister, .value = below(16)};
      case 7:
        return {.op = Op::kResult};
      case 8:
        return {.op = Op::kLatency};
      case 9:
        return {.op = Op::kDepth};
      case 10:
        return {.op = Op::kTail};
      case 11:
        if (options_.entry_values) return {.op = Op::kEntryValue, .value = below(options_.entry_values)};
        [[fallthrough]];
      default:
        return {.op = Op::kConstant, .value = random_value(random_, options_)};
    }
  }

  Output random_output() {
    Output o{.kind = below(24) ? static_cast<Output::Kind>(below(4)) : Output::Kind::kCollected,
             .node = any()};
    if (o.kind == Output::Kind::kValue) {
      o.size = kWidths[below(4)];
      return o;
    }
    if (below(4) && !options_.addresses.empty() && program_.code.nodes.size() < kMaxNodes)
      o.node = program_.code.constant(random_address());
    o.count = static_cast<uint32_t>(1 + below(options_.most_bytes));
    if (!o.has_length()) return o;
    if (o.kind == Output::Kind::kCollected) add_steps(o);
    o.length = below(2) ? any() : program_.code.constant(below(20));
    if (o.kind == Output::Kind::kCollected) return o;
    o.size = static_cast<uint32_t>(1 + below(12));
    o.count = std::max<uint32_t>(1, o.count / o.size);
    return o;
  }

  // A sequence of numbers and texts, or one in another.
  void add_steps(Output& o) {
    using collect::Where;
    constexpr Where kWheres[] = {Where::kGiven, Where::kInline, Where::kCounted, Where::kBetween,
                                 Where::kTree,  Where::kChain,  Where::kBlocks,  Where::kIndexed};
    const bool is_nested = below(2) != 0;
    for (size_t i = 0; i <= is_nested; ++i) {
      collect::Step s{.where = kWheres[below(std::size(kWheres))]};
      s.a = static_cast<uint32_t>(below(4) * 8);
      s.b = static_cast<uint32_t>(below(4) * 8);
      s.c = below(2) ? collect::kNoSize : static_cast<uint32_t>(below(4) * 8);
      s.offset = static_cast<uint32_t>(below(16));
      s.count = static_cast<uint32_t>(1 + below(8));
      s.limit = static_cast<uint32_t>(below(12));
      s.stride = static_cast<uint32_t>(1 + below(20));
      s.block_size = static_cast<uint32_t>(1 + below(9));
      s.right_offset = 8;
      s.parent_offset = 16;
      s.least = s.block_size + collect::kTextHead;
      o.steps.push_back(s);
    }
    const auto end = static_cast<uint16_t>(o.steps.size() + 1);
    o.steps[0].next = end;
    o.steps.back().next = end;
    if (is_nested) o.steps[0].least = o.steps[0].block_size + collect::kSequenceHead;
    collect::Step text{.is_text = true, .where = below(2) ? Where::kCString : Where::kCounted, .next = end};
    text.b = 8;
    text.limit = static_cast<uint32_t>(below(40));
    o.steps.push_back(text);
    o.count += collect::kSequenceHead;
  }

  std::mt19937_64& random_;
  const ProgramOptions& options_;
  HitProgram program_;
  std::vector<uint32_t> depths_;
};

}  // namespace

HitProgram random_program(std::mt19937_64& random, const ProgramOptions& options) {
  return Generator(random, options).make();
}

uint64_t random_value(std::mt19937_64& random, const ProgramOptions& options) {
  constexpr uint64_t kSpecial[] = {0,
                                   1,
                                   63,
                                   64,
                                   0x7f,
                                   0x80,
                                   0xff,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   UINT64_MAX,
                                   0x3ff0000000000000,   // 1.0
                                   0x7ff8000000000000,   // not a number
                                   0x8000000000000000};  // -0.0
  switch (random() % 5) {
    case 0:
      return random() % 8;
    case 1:
      return kSpecial[random() % std::size(kSpecial)];
    case 2:
      return ~(random() % 8);
    case 3:
      if (!options.addresses.empty())
        return options.addresses[random() % options.addresses.size()] + random() % options.near;
      [[fallthrough]];
    default:
      return random();
  }
}

void TestMachine::put(uint64_t address, const void* bytes, size_t size) {
  const auto* from = static_cast<const uint8_t*>(bytes);
  memory[address] = std::vector<uint8_t>(from, from + size);
}

bool TestMachine::read(uint64_t address, void* to, size_t bytes) const {
  auto block = memory.upper_bound(address);
  if (block == memory.begin()) return false;
  --block;
  const uint64_t offset = address - block->first;
  if (offset > block->second.size() || bytes > block->second.size() - offset) return false;
  std::memcpy(to, block->second.data() + offset, bytes);
  return true;
}

std::optional<uint64_t> TestMachine::entry_value(uint64_t n) const {
  return n < entries.size() ? entries[n] : std::nullopt;
}

}  // namespace blip::script
