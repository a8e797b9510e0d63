// SPDX-License-Identifier: MIT
#include "bt/bytes.h"

#include "state/key.h"

namespace blip::bt {

using state::ValueType;

std::string pack(const std::vector<ValueType>& types, const script::Argument* values) {
  state::Key key;
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] == ValueType::kText)
      key.add(values[i].text);
    else
      key.add(values[i].number);
  }
  return key.bytes();
}

std::vector<script::Argument> unpack(const std::vector<ValueType>& types, std::string_view text) {
  std::vector<script::Argument> result;
  for (const ValueType type : types) {
    if (type == ValueType::kNumber) {
      if (text.size() < sizeof(uint64_t)) return {};
      script::Argument a;
      std::memcpy(&a.number, text.data(), sizeof a.number);
      text.remove_prefix(sizeof a.number);
      result.push_back(a);
      continue;
    }
    uint32_t size = 0;
    if (text.size() < sizeof size) return {};
    std::memcpy(&size, text.data(), sizeof size);
    text.remove_prefix(sizeof size);
    if (text.size() < size) return {};
    result.push_back({.text = text.substr(0, size)});
    text.remove_prefix(size);
  }
  return result;
}

}  // namespace blip::bt
