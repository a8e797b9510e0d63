// SPDX-License-Identifier: MIT
#include "script/ir/interpret.h"

#include <algorithm>
#include <bit>

#include "collect/collect.h"
#include "script/ir/verify.h"

namespace blip::script {

namespace {

using Value = std::optional<uint64_t>;

constexpr uint64_t kBits = 64;

uint64_t extend(uint64_t value, uint8_t width, bool is_signed) {
  if (width >= 8) return value;
  const unsigned unused = 64 - 8U * width;
  value <<= unused;
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value) >> unused) : value >> unused;
}

Value divide(const Node& n, uint64_t a, uint64_t b) {
  if (b == 0) return std::nullopt;
  const bool is_quotient = n.op == Op::kDiv;
  if (!n.is_signed) return is_quotient ? a / b : a % b;
  const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
  if (y == -1) return is_quotient ? 0 - a : 0;  // the least number has no opposite: it stays
  return static_cast<uint64_t>(is_quotient ? x / y : x % y);
}

uint64_t shift_right(uint64_t a, uint64_t by, bool is_signed) {
  if (!is_signed) return by >= kBits ? 0 : a >> by;
  return static_cast<uint64_t>(static_cast<int64_t>(a) >> std::min(by, kBits - 1));
}

template <typename T>
bool compares(Op op, T a, T b) {
  if (op == Op::kLess || op == Op::kLessFloat) return a < b;
  return op == Op::kEqualFloat ? a == b : a <= b;
}

bool less(const Node& n, uint64_t a, uint64_t b) {
  if (n.is_signed) return compares(n.op, static_cast<int64_t>(a), static_cast<int64_t>(b));
  return compares(n.op, a, b);
}

uint64_t widen(uint64_t a) {
  const auto narrow = std::bit_cast<float>(static_cast<uint32_t>(a));
  return std::bit_cast<uint64_t>(static_cast<double>(narrow));
}

// Computes with two operands, none of which is a fault.
Value binary(const Node& n, uint64_t a, uint64_t b) {
  switch (n.op) {
    case Op::kAdd:
      return a + b;
    case Op::kSub:
      return a - b;
    case Op::kMul:
      return a * b;
    case Op::kDiv:
    case Op::kMod:
      return divide(n, a, b);
    case Op::kAnd:
      return a & b;
    case Op::kOr:
      return a | b;
    case Op::kXor:
      return a ^ b;
    case Op::kShl:
      return b >= kBits ? 0 : a << b;
    case Op::kShr:
      return shift_right(a, b, n.is_signed);
    case Op::kEqual:
      return a == b;
    case Op::kNotEqual:
      return a != b;
    case Op::kLess:
    case Op::kLessEqual:
      return less(n, a, b);
    default:
      return compares(n.op, std::bit_cast<double>(a), std::bit_cast<double>(b));
  }
}

uint64_t unary(const Node& n, uint64_t a) {
  switch (n.op) {
    case Op::kNeg:
      return 0 - a;
    case Op::kNot:
      return ~a;
    case Op::kExtend:
      return extend(a, n.width, n.is_signed);
    case Op::kWiden:
      return widen(a);
    default:
      return a == 0;  // kLogicalNot
  }
}

class Interpreter {
 public:
  Interpreter(const Code& code, const Machine& machine)
      : code_(code), machine_(machine), known_(code.nodes.size()) {}

  Value value(uint32_t node) {
    std::optional<Value>& known = known_[node];
    if (!known) known = compute(code_.nodes[node]);  // shared nodes are computed once: without it, trees grow
    return *known;
  }

  OutputBytes output(const Output& output) {
    OutputBytes result;
    if (!fill(output, result)) {
      const bool is_null = output.kind == Output::Kind::kString && value(output.node) == 0U;
      result = {.is_fault = true, .is_cut = is_null};
      if (!output.is_dynamic())
        result.bytes.resize(output.kind == Output::Kind::kValue ? output.size : output.count);
    }
    return result;
  }

 private:
  Value compute(const Node& n) {
    switch (arity(n.op)) {
      case 0:
        return leaf(n);
      case 1: {
        const Value a = value(n.a);
        return a ? of_address(n, *a) : std::nullopt;
      }
      case 2:
        if (n.op == Op::kLogicalAnd || n.op == Op::kLogicalOr) return logical(n);
        break;
      default: {
        const Value a = value(n.a);
        return a ? value(*a ? n.b : n.c) : std::nullopt;
      }
    }
    const Value a = value(n.a), b = value(n.b);
    if (!a || !b) return std::nullopt;
    return n.op == Op::kBytesEqual ? bytes_equal(code_.texts[n.value], *a, *b) : binary(n, *a, *b);
  }

  Value leaf(const Node& n) {
    switch (n.op) {
      case Op::kRegister:
        return machine_.general(static_cast<unsigned>(n.value));
      case Op::kVector:
        return extend(machine_.vector(static_cast<unsigned>(n.value), false), n.width, false);
      case Op::kVectorHigh:
        return machine_.vector(static_cast<unsigned>(n.value), true);
      case Op::kFlags:
        return machine_.flags();
      case Op::kThreadPointer:
        return machine_.thread_pointer();
      case Op::kLoadNear:
        return load(n, machine_.general(kStackPointer) + n.value);
      case Op::kResult:
        return machine_.result();
      case Op::kLatency:
        return machine_.latency();
      case Op::kDepth:
        return machine_.depth();
      case Op::kTail:
        return machine_.tail();
      case Op::kEntryValue:
        return machine_.entry_value(n.value);
      default:
        return n.value;
    }
  }

  Value of_address(const Node& n, uint64_t a) {
    if (n.op == Op::kLoad) return load(n, a);
    if (n.op == Op::kReturned) return machine_.tail() ? std::nullopt : Value(a);
    if (n.op == Op::kTextEqual || n.op == Op::kTextPrefix) return text(n, a);
    if (n.op == Op::kLookup) return look_up(code_.tables[n.value], a);
    return unary(n, a);
  }

  static Value look_up(const Table& table, uint64_t key) {
    const auto row = std::lower_bound(table.begin(), table.end(), std::pair(key, uint64_t{0}));
    return row != table.end() && row->first == key ? Value(row->second) : std::nullopt;
  }

  Value load(const Node& n, uint64_t address) {
    uint64_t value = 0;
    if (!machine_.read(address, &value, n.width)) return std::nullopt;
    return extend(value, n.width, n.is_signed);
  }

  // Byte by byte: what comes after the first difference need not be there.
  Value text(const Node& n, uint64_t address) {
    const std::string& wanted = code_.texts[n.value];
    const size_t size = wanted.size() + (n.op == Op::kTextEqual ? 1 : 0);
    for (size_t i = 0; i < size; ++i) {
      char c = 0;
      if (!machine_.read(address + i, &c, 1)) return std::nullopt;
      if (c != wanted.c_str()[i]) return 0;
    }
    return 1;
  }

  Value bytes_equal(const std::string& wanted, uint64_t address, uint64_t length) {
    if (length != wanted.size()) return 0;
    std::string there(wanted.size(), '\0');
    if (!there.empty() && !machine_.read(address, there.data(), there.size())) return std::nullopt;
    return there == wanted;
  }

  Value logical(const Node& n) {
    const Value a = value(n.a);
    if (!a) return std::nullopt;
    if ((*a != 0) == (n.op == Op::kLogicalOr)) return n.op == Op::kLogicalOr;
    const Value b = value(n.b);
    if (!b) return std::nullopt;
    return *b != 0;
  }

  // False: a fault.
  bool fill(const Output& output, OutputBytes& result) {
    const Value v =
        output.kind == Output::Kind::kCollected ? value(output.node).value_or(kNowhere) : value(output.node);
    if (!v) return false;
    switch (output.kind) {
      case Output::Kind::kValue:
        for (uint32_t i = 0; i < output.size; ++i) result.bytes.push_back(static_cast<uint8_t>(*v >> 8 * i));
        return true;
      case Output::Kind::kBytes:
        return read_all(*v, output.count, result);
      case Output::Kind::kString:
        return read_text(*v, output.count, result);
      case Output::Kind::kCollected:
      case Output::Kind::kSequence:
        break;
    }
    const Value length = value(output.length);
    if (output.kind == Output::Kind::kCollected) return collect(output, *v, length.value_or(0), result);
    if (!length) return false;
    result.is_cut = *length > output.count;
    return read_all(*v, std::min<uint64_t>(*length, output.count) * output.size, result);
  }

  struct Reader {
    const Machine& machine;
    bool read(void* to, uint64_t address, uint32_t size) const { return machine.read(address, to, size); }
  };

  // It is never a fault: each part says what it lacks.
  bool collect(const Output& output, uint64_t address, uint64_t length, OutputBytes& result) {
    const Reader reader{machine_};
    result.bytes.resize(output.count);
    const collect::Table table{.size = output.count, .hops = hops_of(output), .safe_load = 0};
    collect::Collector collector(table, output.steps.data(), reader, result.bytes.data());
    result.bytes.resize(collector.run(address, length));
    return true;
  }

  bool read_all(uint64_t address, size_t size, OutputBytes& result) {
    result.bytes.resize(size);
    return size == 0 || machine_.read(address, result.bytes.data(), size);
  }

  bool read_text(uint64_t address, uint32_t most, OutputBytes& result) {
    for (uint32_t i = 0; i < most; ++i) {
      uint8_t c = 0;
      if (!machine_.read(address + i, &c, 1)) {
        result.is_cut = true;
        return i != 0;
      }
      if (c == 0) return true;
      result.bytes.push_back(c);
    }
    result.is_cut = true;
    return true;
  }

  static constexpr unsigned kStackPointer = 4;
  static constexpr uint64_t kNowhere = 1;  // an address that cannot be read
  const Code& code_;
  const Machine& machine_;
  std::vector<std::optional<Value>> known_;
};

}  // namespace

std::optional<uint64_t> compute(const Node& node, uint64_t a, uint64_t b) {
  switch (node.op) {
    case Op::kLoad:
    case Op::kTextEqual:
    case Op::kTextPrefix:
    case Op::kBytesEqual:
    case Op::kLogicalAnd:
    case Op::kLogicalOr:
    case Op::kReturned:
    case Op::kLookup:
      return std::nullopt;
    default:
      break;
  }
  if (arity(node.op) == 1) return unary(node, a);
  return arity(node.op) == 2 ? binary(node, a, b) : std::nullopt;
}

std::optional<uint64_t> interpret(const Code& code, uint32_t node, const Machine& machine) {
  return Interpreter(code, machine).value(node);
}

std::optional<std::vector<OutputBytes>> run(const HitProgram& program, const Machine& machine) {
  Interpreter interpreter(program.code, machine);
  if (program.condition != kNone && interpreter.value(program.condition).value_or(0) == 0)
    return std::nullopt;
  std::vector<OutputBytes> result;
  for (const Output& output : program.outputs) result.push_back(interpreter.output(output));
  return result;
}

}  // namespace blip::script
