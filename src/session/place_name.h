// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace blip::session {

// What events of a class that many places share are called by where they happened: the field ip lies in
// [begin, begin + size), and `begin` is the place `name`.
struct PlaceName {
  uint32_t class_id = 0;
  uint64_t begin = 0;
  uint64_t size = 1;
  std::string name;
};

}  // namespace blip::session
