// SPDX-License-Identifier: MIT
#include "session/symbolize/place_name.h"

#include <fmt/format.h>

namespace blip::session {

void PlaceTable::add(PlaceName place) {
  const std::pair key{place.class_id, place.begin};
  places_.insert_or_assign(key, std::move(place));
}

std::string PlaceTable::at(uint32_t class_id, uint64_t ip) const {
  auto after = places_.upper_bound({class_id, ip});
  if (after == places_.begin()) return {};
  const PlaceName& place = (--after)->second;
  if (place.class_id != class_id || ip - place.begin >= place.size) return {};
  return ip == place.begin ? place.name : fmt::format("{}+{:#x}", place.name, ip - place.begin);
}

std::string event_name_at(std::string_view class_name, std::string place) {
  constexpr std::string_view kReturn = ":return";
  if (place.empty()) return std::string(class_name);
  if (class_name.ends_with(kReturn) && !place.ends_with(kReturn)) place += kReturn;
  return place;
}

}  // namespace blip::session
