// SPDX-License-Identifier: MIT
// Any bytes as sections that an index is made of, cut where the first bytes say: it ends, in bounds.
#include <algorithm>

#include "dwarf/index/index_builder.h"
#include "dwarf/index/unit_headers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace blip::dwarf;
  std::span<const uint8_t> rest(data, size);
  const auto take = [&] {
    const size_t wanted = rest.empty() ? 0 : size_t{rest[0]} * 2;
    if (!rest.empty()) rest = rest.subspan(1);
    const auto part = rest.first(std::min(wanted, rest.size()));
    rest = rest.subspan(part.size());
    return part;
  };
  DebugSections sections;
  sections.abbreviations = take();
  sections.strings = take();
  sections.string_offsets = take();
  sections.line_strings = take();
  sections.info = rest;
  const auto headers = unit_headers(sections.info);
  std::vector<IndexedUnit> units;
  for (const UnitHeader& header : headers.value_or(std::vector<UnitHeader>{}))
    units.push_back({header.entry});
  if (const auto tables = build_name_tables(sections, units))
    (void)NameIndex::read(tables->bytes(), tables->fingerprint);
  return 0;
}
