// SPDX-License-Identifier: MIT
// Makes codes: what is constant is computed here, and what is there already is used again, so that a pointer
// that ten members are reached by is loaded once.
#pragma once

#include <map>
#include <optional>
#include <tuple>

#include "script/ir/ir.h"

namespace blip::script {

class Builder {
 public:
  uint32_t add(Node node);
  uint32_t add(Op op, uint32_t a, uint32_t b = 0, bool is_signed = false) {
    return add({.op = op, .is_signed = is_signed, .a = a, .b = b});
  }
  uint32_t constant(uint64_t value) { return add({.op = Op::kConstant, .value = value}); }
  uint32_t extend(uint32_t a, uint64_t size, bool is_signed) {
    return add({.op = Op::kExtend, .width = static_cast<uint8_t>(size), .is_signed = is_signed, .a = a});
  }
  uint32_t load(uint32_t address, uint64_t size, bool is_signed = false) {
    return add({.op = Op::kLoad, .width = static_cast<uint8_t>(size), .is_signed = is_signed, .a = address});
  }
  uint32_t text(std::string text);  // its index
  uint32_t table(const Table& table);

  // Another code's last node, which is its result; kNone: it has none, or is not valid.
  uint32_t append(const Code& code);

  std::optional<uint64_t> constant_of(uint32_t node) const;
  uint32_t depth(uint32_t node) const { return depths_[node]; }
  const Node& node(uint32_t n) const { return code_.nodes[n]; }
  const Code& code() const { return code_; }

 private:
  using Key = std::tuple<Op, uint8_t, bool, uint32_t, uint32_t, uint32_t, uint64_t>;

  // A node that is the same, if there is one that need not be made.
  std::optional<uint32_t> simpler(Node& node);
  std::optional<uint32_t> simpler_sum(Node& node);
  std::optional<uint32_t> simpler_choice(const Node& node);
  std::optional<uint32_t> opposite(uint32_t of);
  bool is_extended(uint32_t node, uint8_t width, bool is_signed, int levels = 8) const;

  Code code_;
  std::vector<uint32_t> depths_;
  std::map<Key, uint32_t> known_;
};

// The program without nodes that nothing needs.
HitProgram without_unused(const HitProgram& program);

}  // namespace blip::script
