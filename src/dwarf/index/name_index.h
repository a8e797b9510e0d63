// SPDX-License-Identifier: MIT
// Says which units of a file have entries of a name. It is made once, kept, and read again from bytes that
// may be anything. A unit that it gives may have no entry of that name; a unit that it does not give has
// none.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/addr.h"

namespace blip::dwarf {

enum class IndexedNames : uint8_t {
  kInlined,  // functions that were inlined somewhere: identifiers, mangled names
  kGlobal,   // variables and types: identifiers
};
inline constexpr size_t kIndexedNames = 2;

struct IndexedUnit {
  uint64_t entry = 0;  // its offset in .debug_info
  enum Flags : uint32_t { kIsSkeleton = 1, kHasLines = 2 };
  uint32_t flags = 0;
  uint32_t reserved = 0;
};

struct IndexedRange {
  FileRange code;
  uint32_t unit = 0;
  uint32_t reserved = 0;
};

// An entry of another unit or file, and a unit that has copies of that function.
struct IndexedOrigin {
  uint64_t entry = 0;
  uint32_t unit = 0;
  uint32_t reserved = 0;

  auto operator<=>(const IndexedOrigin&) const = default;
};

// The parts an index is made of.
struct NameTables {
  uint64_t fingerprint = 0;  // of the sections
  std::vector<IndexedUnit> units;
  std::vector<IndexedRange> ranges;  // sorted by begin
  // Hash and unit, in 32 bits each; sorted. None: not all names of this kind are known.
  std::optional<std::vector<uint64_t>> names[kIndexedNames];
  std::vector<IndexedOrigin> origins;  // sorted

  std::vector<uint8_t> bytes() const;
};

class NameIndex {
 public:
  static constexpr uint32_t kVersion = 1;

  // None: not an index, or not of sections with this fingerprint.
  static std::optional<NameIndex> read(std::vector<uint8_t> bytes, uint64_t fingerprint);

  std::span<const IndexedUnit> units() const { return units_; }
  std::span<const IndexedRange> ranges() const { return ranges_; }
  // Numbers of units, sorted. None: the index cannot tell.
  std::optional<std::vector<uint32_t>> units_with(IndexedNames kind, std::string_view name) const;
  // The units that have copies of one of these entries.
  std::vector<uint32_t> units_referring_to(std::span<const uint64_t> entries) const;

 private:
  NameIndex() = default;
  struct Names {
    bool is_known = false;
    std::span<const uint32_t> hashes;   // sorted
    std::span<const uint32_t> starts;   // of each hash, in what follows, and the end
    std::span<const uint8_t> postings;  // of a hash: numbers of units, each as the distance from the last
  };

  std::vector<uint8_t> bytes_;
  std::span<const IndexedUnit> units_;
  std::span<const IndexedRange> ranges_;
  std::span<const IndexedOrigin> origins_;
  Names names_[kIndexedNames];
};

}  // namespace blip::dwarf
