// SPDX-License-Identifier: MIT
// The bytes of a value that is at a place, for tests.
#pragma once

#include <cstring>
#include <optional>
#include <vector>

#include "script/ir/interpret.h"
#include "script/types/scope.h"

namespace blip::script {

// None: optimized out, wholly or in part, or it cannot be read.
inline std::optional<std::vector<uint8_t>> bytes_at(const Place& place, size_t size, const Machine& machine) {
  std::vector<uint8_t> bytes;
  if (place.kind == Place::Kind::kPieces) {
    for (const Place::Piece& piece : place.pieces) {
      const auto part = bytes_at(piece.place, piece.size, machine);
      if (!part) return std::nullopt;
      bytes.insert(bytes.end(), part->begin(), part->end());
    }
    if (bytes.size() < size) return std::nullopt;
    bytes.resize(size);
    return bytes;
  }
  if (place.kind == Place::Kind::kOptimizedOut || place.code.nodes.empty()) return std::nullopt;
  const auto result = interpret(place.code, static_cast<uint32_t>(place.code.nodes.size() - 1), machine);
  if (!result) return std::nullopt;
  bytes.resize(size);
  if (place.kind == Place::Kind::kAddress) {
    if (!machine.read(*result, bytes.data(), size)) return std::nullopt;
  } else {
    if (size > sizeof(*result)) return std::nullopt;
    std::memcpy(bytes.data(), &*result, size);
  }
  return bytes;
}

}  // namespace blip::script
