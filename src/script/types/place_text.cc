// SPDX-License-Identifier: MIT
#include "script/types/place_text.h"

#include <fmt/core.h>

#include <optional>
#include <string_view>

#include "machine/registers.h"

namespace blip::script {

namespace {

const machine::RegisterSet& kRegisters = machine::host().registers;
constexpr int kDeepest = 4;

using Text = std::optional<std::string>;

class Writer {
 public:
  explicit Writer(const Code& code) : code_(code) {}

  Text text(uint32_t id, int depth = 0) const {
    if (id >= code_.nodes.size() || depth > kDeepest) return std::nullopt;
    const Node& node = code_.nodes[id];
    switch (node.op) {
      case Op::kConstant:
        return fmt::format("{:#x}", node.value);
      case Op::kRegister:
        return node.value < kRegisters.general.size() ? Text(kRegisters.general[node.value]) : std::nullopt;
      case Op::kVector:
        return fmt::format("{}{}", kRegisters.vector_prefix, node.value);
      case Op::kThreadPointer:
        return Text(kRegisters.thread_pointer);
      case Op::kExtend:
        return text(node.a, depth);
      case Op::kLoad:
        return loaded(node, depth);
      case Op::kLoadNear:
        return fmt::format("[{}+{:#x}]", kRegisters.general[kRegisters.stack_pointer], node.value);
      case Op::kAdd:
        return sum(node, depth);
      default:
        return std::nullopt;
    }
  }

 private:
  Text loaded(const Node& node, int depth) const {
    const Text inner = text(node.a, depth + 1);
    return inner ? Text("[" + *inner + "]") : std::nullopt;
  }

  Text sum(const Node& node, int depth) const {
    const Text a = text(node.a, depth + 1), b = text(node.b, depth + 1);
    if (!a || !b) return std::nullopt;
    const Node& right = code_.nodes[node.b];
    const auto distance = static_cast<int64_t>(right.value);
    if (right.op == Op::kConstant && distance < 0)
      return fmt::format("{}-{:#x}", *a, -static_cast<uint64_t>(distance));
    return fmt::format("{}+{}", *a, *b);
  }

  const Code& code_;
};

bool is_in_frame(const Code& code) {
  for (const Node& node : code.nodes)
    if (node.op == Op::kLoad) return false;
  for (const Node& node : code.nodes)
    if (node.op == Op::kRegister &&
        (node.value == kRegisters.stack_pointer || node.value == kRegisters.frame_pointer))
      return true;
  return false;
}

std::string simple_text(const Place& place) {
  if (place.code.nodes.empty()) return "optimized out";
  const auto last = static_cast<uint32_t>(place.code.nodes.size() - 1);
  const Text text = Writer(place.code).text(last);
  if (!text) return "computed";
  const Node& node = place.code.nodes[last];
  if (place.kind == Place::Kind::kValue)
    return node.op == Op::kConstant ? fmt::format("constant {}", static_cast<int64_t>(node.value)) : *text;
  if (node.op == Op::kConstant) return "memory " + *text;
  return fmt::format("{} [{}]", is_in_frame(place.code) ? "stack" : "memory", *text);
}

}  // namespace

std::string place_text(const Place& place) {
  if (place.kind == Place::Kind::kOptimizedOut) return std::string(text_of(place.why));
  if (place.kind != Place::Kind::kPieces) return simple_text(place);
  std::string all;
  for (const Place::Piece& piece : place.pieces) {
    if (!all.empty()) all += ", ";
    all += fmt::format("{} bytes {}", piece.size, place_text(piece.place));
  }
  return all.empty() ? "optimized out" : all;
}

}  // namespace blip::script
