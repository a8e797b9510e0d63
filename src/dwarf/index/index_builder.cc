// SPDX-License-Identifier: MIT
#include "dwarf/index/index_builder.h"

#include <algorithm>
#include <mutex>

#include "base/parallel.h"
#include "dwarf/index/cursor.h"
#include "dwarf/index/unit_scan.h"

namespace blip::dwarf {

namespace {

constexpr size_t kPiece = 16;  // units

// The names found in some units.
struct Found {
  std::vector<uint64_t> names[kIndexedNames];
  std::vector<IndexedOrigin> origins;
  bool lacks[kIndexedNames] = {};
  bool is_readable = true;

  void add(const UnitNames& unit, uint32_t number) {
    const auto add_names = [&](const std::vector<uint32_t>& hashes, IndexedNames kind) {
      auto& pairs = names[static_cast<size_t>(kind)];
      for (const uint32_t hash : hashes) pairs.push_back(uint64_t{hash} << 32 | number);
    };
    add_names(unit.inlined, IndexedNames::kInlined);
    add_names(unit.named, IndexedNames::kGlobal);
    for (const uint64_t origin : unit.origins) origins.push_back({origin, number});
    lacks[static_cast<size_t>(IndexedNames::kInlined)] |= unit.lacks_inlined;
    lacks[static_cast<size_t>(IndexedNames::kGlobal)] |= unit.lacks_named;
    is_readable &= unit.is_readable;
  }

  void add(const Found& other) {
    for (size_t kind = 0; kind < kIndexedNames; ++kind) {
      names[kind].insert(names[kind].end(), other.names[kind].begin(), other.names[kind].end());
      lacks[kind] |= other.lacks[kind];
    }
    origins.insert(origins.end(), other.origins.begin(), other.origins.end());
    is_readable &= other.is_readable;
  }
};

Found scan_units(const DebugSections& sections, std::span<const UnitHeader> units, size_t begin, size_t end) {
  Found found;
  NameHashes hashes;
  for (size_t i = begin; i < end && found.is_readable; ++i) {
    const auto abbreviations = Abbreviations::read(sections.abbreviations, units[i]);
    found.is_readable &= abbreviations.has_value();
    if (abbreviations)
      found.add(scan_unit(sections, units[i], *abbreviations, hashes), static_cast<uint32_t>(i));
  }
  return found;
}

bool are_the_same(std::span<const UnitHeader> headers, std::span<const IndexedUnit> units) {
  return std::equal(headers.begin(), headers.end(), units.begin(), units.end(),
                    [](const UnitHeader& a, const IndexedUnit& b) { return a.entry == b.entry; });
}

uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x9e3779b97f4a7c15 ^ hash >> 29; }

}  // namespace

uint64_t fingerprint_of(const DebugSections& sections) {
  constexpr size_t kSamples = 16;
  uint64_t hash = NameIndex::kVersion;
  for (const auto section : {sections.info, sections.abbreviations, sections.strings, sections.line_strings,
                             sections.string_offsets, sections.alternate_strings}) {
    hash = mix(hash, section.size());
    for (size_t i = 0; i < kSamples && !section.empty(); ++i) {
      Cursor cursor(section, (section.size() - 1) / kSamples * i);
      for (int word = 0; word < 4; ++word) hash = mix(hash, cursor.fixed(sizeof(uint64_t)));
    }
  }
  return hash;
}

std::optional<NameTables> build_name_tables(const DebugSections& sections,
                                            std::span<const IndexedUnit> units) {
  const auto headers = unit_headers(sections.info);
  if (!headers || !are_the_same(*headers, units)) return std::nullopt;
  Found all;
  std::mutex mutex;
  parallel_pieces(headers->size(), kPiece, [&](size_t begin, size_t end) {
    const Found found = scan_units(sections, *headers, begin, end);
    const std::lock_guard lock(mutex);
    all.add(found);
  });
  if (!all.is_readable) return std::nullopt;
  NameTables tables{.fingerprint = fingerprint_of(sections), .units = {units.begin(), units.end()}};
  std::sort(all.origins.begin(), all.origins.end());
  tables.origins = std::move(all.origins);
  parallel_pieces(kIndexedNames, 1, [&](size_t kind, size_t) {
    if (all.lacks[kind]) return;
    std::sort(all.names[kind].begin(), all.names[kind].end());
    tables.names[kind] = std::move(all.names[kind]);
  });
  return tables;
}

}  // namespace blip::dwarf
