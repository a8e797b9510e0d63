// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace blip::session {

// The name of events of a class that many places share, by where they happened: the field ip lies in [begin,
// begin + size), and `begin` is the place `name`.
struct PlaceName {
  uint32_t class_id = 0;
  uint64_t begin = 0;
  uint64_t size = 1;
  std::string name;
};

// Those of one process.
class PlaceTable {
 public:
  void add(PlaceName place);
  // NAME or NAME+0xOFF; empty: not known.
  std::string at(uint32_t class_id, uint64_t ip) const;

 private:
  std::map<std::pair<uint32_t, uint64_t>, PlaceName> places_;  // by class and first address
};

// The name of an event of such a class, whose own name is a pattern: that of the place, NAME:return for
// returns. Without a place the class's.
std::string event_name_at(std::string_view class_name, std::string place);

}  // namespace blip::session
