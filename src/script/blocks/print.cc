// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "script/blocks/library.h"
#include "script/blocks/operations.h"
#include "script/blocks/text.h"
#include "script/blocks/words.h"

namespace blip::script {

namespace {

template <typename Words, typename Enum>
std::string_view word(const Words& all, Enum e) {
  return all[static_cast<size_t>(e)];
}

// Bytes that are no printable ASCII as \xNN.
std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (result += '\\') += c;
    else if (byte < 0x20 || byte > 0x7e)
      result += fmt::format("\\x{:02x}", byte);
    else
      result += c;
  }
  return result + '"';
}

std::string list_of(const std::vector<ValueType>& types) {
  std::string result;
  for (const ValueType t : types)
    result += fmt::format("{}{}", result.empty() ? "" : ", ", word(words::kTypes, t));
  return "(" + result + ")";
}

std::string number(uint64_t value) { return std::to_string(static_cast<int64_t>(value)); }

std::string print(const state::Histogram& h) {
  using Kind = state::Histogram::Kind;
  if (h.kind == Kind::kNone) return "";
  std::string result = fmt::format(" {}", word(words::kHistograms, h.kind));
  if (h.kind == Kind::kHist) result += fmt::format(" {}", h.bits);
  if (h.kind == Kind::kLhist || h.kind == Kind::kHistLinear)
    result += fmt::format(" {} {} {}", h.low, h.high, h.step);
  return result;
}

std::string print(const state::MapType& map) {
  return fmt::format(
      "{} {} {}{}{} limit {} {} {}", in_quotes(map.name), list_of(map.key), word(words::kTypes, map.value),
      map.is_unsigned ? " unsigned" : "",
      (map.has_variance ? fmt::format(" variance {}", map.variance_shift) : "") + print(map.histogram),
      map.limit, word(words::kWhenFull, map.when_full), word(words::kMapKinds, map.kind));
}

class Printer {
 public:
  Printer(const Program& program, const Function& function) : program_(program), function_(function) {}

  std::string run() {
    header();
    for (uint32_t i = 0; i < function_.blocks.size(); ++i) block(i);
    return std::move(out_);
  }

 private:
  void header() {
    const Function& f = function_;
    out_ += "function " + f.name;
    if (f.probe != kNone) out_ += fmt::format(" probe {}", f.probe);
    if (f.parameters) out_ += fmt::format(" parameters {}", f.parameters);
    if (f.result != ValueType::kNone) out_ += fmt::format(" returns {}", word(words::kTypes, f.result));
    out_ += fmt::format(" at {}\n", word(words::kPlaces, f.place));
    declare("local", f.locals);
    declare("captured", f.captured);
    for (size_t i = 0; i < f.walks.size(); ++i) out_ += fmt::format("  walk {} map {}\n", i, f.walks[i]);
  }

  void declare(std::string_view what, const std::vector<ValueType>& types) {
    for (size_t i = 0; i < types.size(); ++i)
      out_ += fmt::format("  {} {} {}\n", what, i, word(words::kTypes, types[i]));
  }

  void block(uint32_t at) {
    const Block& b = function_.blocks[at];
    out_ += fmt::format("b{}:", at);
    if (b.on_failure != kNone) out_ += fmt::format(" else b{}", b.on_failure);
    out_ += '\n';
    for (uint32_t i = 0; i < b.nodes.size(); ++i) {
      const bool has_result = operation(b.nodes[i].op).result != ResultIs::kNothing;
      out_ += "    " + (has_result ? fmt::format("v{} = ", i) : "") + node(b, b.nodes[i]) + '\n';
    }
    out_ += "    " + terminator(b.end) + '\n';
  }

  std::string node(const Block& b, const Node& n) const {
    const Operation& o = operation(n.op);
    std::string result = std::string(o.name) + width(n);
    if (o.has_sign && n.is_signed) result += n.op == BlockOp::kWalk ? " descending" : " signed";
    result += value(n);
    if (o.list != ListIs::kNothing) result += list(b, n);
    for (const uint32_t operand : operands_of(n)) result += fmt::format(" v{}", operand);
    return result;
  }

  static std::string width(const Node& n) {
    switch (operation(n.op).width) {
      case WidthIs::kBytes:
      case WidthIs::kComponent:
        return fmt::format(" {}", n.width);
      case WidthIs::kStatistic:
        return fmt::format(" {}", word(words::kStatistics, n.width));
      case WidthIs::kOrder: {
        const state::Order order = order_of(n);
        std::string result = fmt::format(" {}", word(words::kOrders, order.by));
        if (order.by == state::Order::By::kKey) result += fmt::format(" {}", order.which);
        if (order.by == state::Order::By::kStatistic)
          result += fmt::format(" {}", word(words::kStatistics, order.which));
        return result;
      }
      case WidthIs::kNothing:
        break;
    }
    return "";
  }

  std::string value(const Node& n) const {
    switch (operation(n.op).value) {
      case ValueIs::kNothing:
        return "";
      case ValueIs::kText:
        return " " + in_quotes(program_.texts[n.value]);
      case ValueIs::kTable:
        return " " + table(program_.tables[n.value]);
      case ValueIs::kLibrary:
        return fmt::format(" {}", library()[n.value].name);
      default:
        return " " + number(n.value);
    }
  }

  static std::string table(const Table& rows) {
    std::string result;
    for (const auto& [key, to] : rows)
      result += fmt::format("{}{}:{}", result.empty() ? "" : ", ", number(key), number(to));
    return "{" + result + "}";
  }

  static std::string list(const Block& b, const Node& n) {
    std::string result;
    for (uint32_t i = 0; i < n.b; ++i) result += fmt::format("{}v{}", i ? ", " : "", b.lists[n.a + i]);
    return " (" + result + ")";
  }

  static std::string terminator(const Terminator& end) {
    std::string result(word(words::kTerminators, end.kind));
    if (end.node != kNone) result += fmt::format(" v{}", end.node);
    for (size_t i = 0; i < end.targets.size(); ++i) {
      if (i < end.cases.size()) result += fmt::format(" {}:", number(end.cases[i]));
      result += fmt::format("{}b{}", i < end.cases.size() ? "" : " ", end.targets[i]);
    }
    return result;
  }

  const Program& program_;
  const Function& function_;
  std::string out_;
};

}  // namespace

std::string print(const Program& program, const Function& function) {
  return Printer(program, function).run();
}

std::string print(const Program& program) {
  std::string out = fmt::format("texts {}\n", program.text_limit);
  for (size_t i = 0; i < program.maps.size(); ++i)
    out += fmt::format("map {} {}\n", i, print(program.maps[i]));
  for (size_t i = 0; i < program.formats.size(); ++i)
    out += fmt::format("format {} {} {}\n", i, in_quotes(program.formats[i].text),
                       list_of(program.formats[i].arguments));
  for (const Function& f : program.functions) out += print(program, f);
  return out;
}

}  // namespace blip::script
