// SPDX-License-Identifier: MIT
// A key of a map as bytes: numbers of 8 bytes, and texts with their length in front. Equal keys have equal bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "state/types.h"

namespace blip::state {

class Key {
 public:
  void clear() { bytes_.clear(); }
  void add(uint64_t number) { append(&number, sizeof number); }
  void add(std::string_view text) {
    const auto size = static_cast<uint32_t>(text.size());
    append(&size, sizeof size);
    bytes_ += text;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void append(const void* bytes, size_t size) { bytes_.append(static_cast<const char*>(bytes), size); }

  std::string bytes_;
};

struct KeyComponent {
  uint64_t number = 0;
  std::string_view text{};
};

// Component `which` of a key of these types; a text lies in `bytes`.
inline KeyComponent component_of(std::string_view bytes, const std::vector<ValueType>& types, size_t which) {
  const char* at = bytes.data();
  for (size_t i = 0;; ++i) {
    if (types[i] == ValueType::kNumber) {
      KeyComponent result;
      std::memcpy(&result.number, at, sizeof result.number);
      if (i == which) return result;
      at += sizeof result.number;
    } else {
      uint32_t size = 0;
      std::memcpy(&size, at, sizeof size);
      at += sizeof size;
      if (i == which) return {.text = {at, size}};
      at += size;
    }
  }
}

}  // namespace blip::state
