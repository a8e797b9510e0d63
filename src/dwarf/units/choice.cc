// SPDX-License-Identifier: MIT
// The cases are grouped by their shapes: codes that are the same but for constants. A table tells the shape,
// others the constants, and selections halve what is left of the shapes:
//
//     s = lookup(key, shapes);  s < 1 ? load(rsp + lookup(key, offsets)) : lookup(key, numbers)
#include "dwarf/units/choice.h"

#include <algorithm>
#include <map>

#include "dwarf/units/nodes.h"

namespace blip::dwarf {

using script::Code;
using script::Node;
using script::Op;
using script::Table;

namespace {

constexpr size_t kMostShapes = 16;

struct Shape {
  Code code;                                            // constants are 0
  std::map<uint64_t, std::vector<uint64_t>> constants;  // by key, in the order of the nodes
};

Code without_constants(Code code, std::vector<uint64_t>& constants) {
  for (Node& node : code.nodes)
    if (node.op == Op::kConstant) constants.push_back(std::exchange(node.value, 0));
  return code;
}

std::vector<Shape> shapes_of(const std::vector<std::pair<uint64_t, Code>>& cases) {
  std::vector<Shape> shapes;
  size_t rows = 0;
  for (const auto& [key, code] : cases) {
    if (code.nodes.empty() || ++rows > script::kMaxRows) continue;
    std::vector<uint64_t> constants;
    const Code bare = without_constants(code, constants);
    auto same = std::find_if(shapes.begin(), shapes.end(), [&](const Shape& s) { return s.code == bare; });
    if (same == shapes.end()) same = shapes.insert(same, Shape{bare, {}});
    same->constants.emplace(key, std::move(constants));
  }
  std::stable_sort(shapes.begin(), shapes.end(),
                   [](const Shape& a, const Shape& b) { return a.constants.size() > b.constants.size(); });
  if (shapes.size() > kMostShapes) shapes.resize(kMostShapes);
  return shapes;
}

class Chooser {
 public:
  Chooser(const Code& key, std::vector<Shape> shapes)
      : shapes_(std::move(shapes)), key_(nodes_.append(key)) {}

  Code make() {
    if (shapes_.size() == 1) return nodes_.extract(only(shapes_[0]));
    Table numbers;
    for (size_t i = 0; i < shapes_.size(); ++i)
      for (const auto& row : shapes_[i].constants) numbers.emplace_back(row.first, i);
    number_ = nodes_.lookup(key_, std::move(numbers));
    return nodes_.extract(among(0, shapes_.size()));
  }

 private:
  using Id = Nodes::Id;

  Id among(size_t first, size_t last) {
    if (last - first == 1) return value(shapes_[first]);
    const size_t middle = (first + last) / 2;
    const Id is_low = nodes_.add({.op = Op::kLess, .a = number_, .b = nodes_.constant(middle)});
    const Id low = among(first, middle), high = among(middle, last);
    return nodes_.add({.op = Op::kSelect, .a = is_low, .b = low, .c = high});
  }

  // Adding nothing, from a table, makes it a fault where the key is not known.
  Id only(const Shape& shape) {
    Table zeros;
    for (const auto& row : shape.constants) zeros.emplace_back(row.first, 0);
    const Id known = nodes_.lookup(key_, std::move(zeros));
    return nodes_.add({.op = Op::kAdd, .a = value(shape), .b = known});
  }

  Id value(const Shape& shape) {
    size_t constants = 0;
    return nodes_.append(shape.code, [&](const Node& node) {
      return node.op == Op::kConstant ? std::optional(constant(shape, constants++)) : std::nullopt;
    });
  }

  Id constant(const Shape& shape, size_t position) {
    Table table;
    for (const auto& [key, constants] : shape.constants) table.emplace_back(key, constants[position]);
    const uint64_t first = table.front().second;
    if (std::all_of(table.begin(), table.end(), [&](const auto& row) { return row.second == first; }))
      return nodes_.constant(first);
    return nodes_.lookup(key_, std::move(table));
  }

  std::vector<Shape> shapes_;
  Nodes nodes_;
  Id key_;
  Id number_ = 0;
};

}  // namespace

std::optional<Code> choose(const Code& key, const std::vector<std::pair<uint64_t, Code>>& cases) {
  std::vector<Shape> shapes = shapes_of(cases);
  if (shapes.empty()) return std::nullopt;
  Code code = Chooser(key, std::move(shapes)).make();
  return code.nodes.empty() ? std::nullopt : std::optional(std::move(code));
}

}  // namespace blip::dwarf
