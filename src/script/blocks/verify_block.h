// SPDX-License-Identifier: MIT
// The rules of one block: of verify.cc only.
#pragma once

#include "base/result.h"
#include "script/blocks/operations.h"

namespace blip::script {

// What the node makes, if all before it are valid; `before` has their types.
ValueType type_of(const Program& program, const Function& function, const std::vector<ValueType>& before,
                  const Node& node);

class BlockVerifier {
 public:
  BlockVerifier(const Program& program, const Function& function, const Block& block)
      : program_(program), function_(function), block_(block) {}

  Status verify();

 private:
  // Each says what is wrong; null: nothing.
  const char* node(const Node& node);
  const char* value(const Node& node) const;
  const char* width(const Node& node) const;
  const char* operands(const Node& node) const;
  const char* operand_types(const Node& node) const;
  const char* list(const Node& node) const;
  const char* matches(const Node& node, const std::vector<ValueType>& wanted) const;
  const char* use_of_map(const Node& node) const;
  const char* walk(const Node& node) const;
  const char* call(const Node& node) const;
  const char* place(const Node& node) const;
  const char* map_in_target(const Node& node) const;
  const char* depth(const Node& node);
  const char* terminator() const;
  const char* returned() const;
  const char* targets() const;

  bool makes_value(uint32_t node) const { return node < types_.size() && types_[node] != ValueType::kNone; }
  bool is_number(uint32_t node) const { return node < types_.size() && types_[node] == ValueType::kNumber; }
  bool is_used(uint32_t node) const;
  const state::MapType& map(const Node& node) const { return program_.maps[node.value]; }

  const Program& program_;
  const Function& function_;
  const Block& block_;
  std::vector<ValueType> types_;
  std::vector<uint32_t> depths_;
};

}  // namespace blip::script
