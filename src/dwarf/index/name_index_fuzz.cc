// SPDX-License-Identifier: MIT
// Any bytes as an index that somebody has put into the cache: every answer names a unit that there is.
#include <cstdlib>
#include <cstring>

#include "dwarf/index/name_index.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace blip::dwarf;
  uint64_t fingerprint = 0;
  if (size >= sizeof(fingerprint)) std::memcpy(&fingerprint, data, sizeof(fingerprint));
  const auto index = NameIndex::read({data, data + size}, fingerprint);
  if (!index) return 0;
  const auto check = [&](const std::vector<uint32_t>& units) {
    for (const uint32_t unit : units)
      if (unit >= index->units().size()) std::abort();
  };
  for (const IndexedNames kind : {IndexedNames::kInlined, IndexedNames::kGlobal})
    for (const char* name : {"f", "g", ""})
      if (const auto found = index->units_with(kind, name)) check(*found);
  check(index->units_referring_to(std::vector<uint64_t>{0, 50, UINT64_MAX}));
  return 0;
}
