// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace blip::dwarf {

// Names in an index are known by this. Two that have the same are taken for one: units are looked into in
// vain.
uint32_t name_hash(std::string_view name);

// The same names come again and again, at the same place in memory.
class NameHashes {
 public:
  struct Known {
    const char* name = nullptr;
    uint32_t whole = 0;       // its hash
    uint32_t identifier = 0;  // that of what identifier_in() makes of it
    bool is_odd = false;      // as a prefix it changes what identifier_in() makes of what follows
  };
  // Valid until the next call.
  const Known& of(const char* name);
  // Characters that were looked at.
  uint64_t work() const { return work_; }

 private:
  std::vector<Known> slots_ = std::vector<Known>(kSlots);
  static constexpr size_t kSlots = 1 << 14;
  uint64_t work_ = 0;
};

}  // namespace blip::dwarf
