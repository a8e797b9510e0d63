// SPDX-License-Identifier: MIT
#include "bt/declarations.h"

#include <algorithm>

namespace blip::bt {

MapShape& Declarations::map(const std::string& wanted) {
  const std::string full = '@' + wanted;
  const auto found =
      std::find_if(shapes.maps.begin(), shapes.maps.end(), [&](const MapShape& m) { return m.name == full; });
  if (found != shapes.maps.end()) return *found;
  MapShape map{.name = full};
  map.key = map.value = of_kind(Type::Kind::kUnknown);
  return shapes.maps.emplace_back(std::move(map));
}

uint32_t Declarations::index_of(const MapShape& wanted) const {
  const auto found =
      std::find_if(shapes.maps.begin(), shapes.maps.end(), [&](const MapShape& m) { return &m == &wanted; });
  return static_cast<uint32_t>(found - shapes.maps.begin());
}

}  // namespace blip::bt
