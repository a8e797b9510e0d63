// SPDX-License-Identifier: MIT
// For tests: changes something in a program, which may then keep the rules or not.
#pragma once

#include "script/blocks/blocks.h"

namespace blip::script {

// `next` makes bytes.
template <typename Next>
void change(Program& program, const Next& next) {
  // Small numbers mostly, and some that are far out of range.
  const auto number = [&]() -> uint32_t {
    const uint32_t byte = next();
    return byte < 250 ? byte % 40 : UINT32_MAX - byte;
  };
  Function& f = program.functions[next() % program.functions.size()];
  Block& b = f.blocks[next() % f.blocks.size()];
  if (b.nodes.empty()) return;
  Node& n = b.nodes[next() % b.nodes.size()];
  switch (next() % 16) {
    case 0:
      n.op = static_cast<Op>(next());
      return;
    case 1:
      n.width = next();
      return;
    case 2:
      n.is_signed = !n.is_signed;
      return;
    case 3:
      n.a = number();
      return;
    case 4:
      n.b = number();
      return;
    case 5:
      n.c = number();
      return;
    case 6:
      n.value = number();
      return;
    case 7:
      if (!b.lists.empty()) b.lists[next() % b.lists.size()] = number();
      return;
    case 8:
      b.end.kind = static_cast<Terminator::Kind>(next() % 6);
      return;
    case 9:
      b.end.node = number();
      return;
    case 10:
      b.end.targets.resize(next() % 5, number());
      return;
    case 11:
      b.end.cases.resize(next() % 4, number());
      return;
    case 12:
      b.on_failure = number();
      return;
    case 13:
      b.nodes.erase(b.nodes.begin() + static_cast<ptrdiff_t>(next() % b.nodes.size()));
      return;
    case 14:
      f.place = static_cast<Function::Place>(next() % 4);
      return;
    default:
      f.parameters = number();
  }
}

}  // namespace blip::script
