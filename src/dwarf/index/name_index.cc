// SPDX-License-Identifier: MIT
// The format is a header with the offsets of the arrays, then the arrays, each at a multiple of 8 bytes.
// Their contents are checked where they are used.
#include "dwarf/index/name_index.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "dwarf/index/cursor.h"
#include "dwarf/index/name_hash.h"

namespace blip::dwarf {

namespace {

constexpr uint64_t kAlignment = 8;

struct Array {
  uint64_t offset = 0;
  uint64_t count = 0;
};

struct Header {
  uint64_t fingerprint = 0;
  uint64_t knows[kIndexedNames] = {};
  Array units, ranges, origins;
  Array hashes[kIndexedNames], starts[kIndexedNames], postings[kIndexedNames];
};

class Writer {
 public:
  template <typename T>
  Array add(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.resize((bytes_.size() + kAlignment - 1) / kAlignment * kAlignment);
    const Array array{bytes_.size(), items.size()};
    const auto* data = reinterpret_cast<const uint8_t*>(items.data());
    bytes_.insert(bytes_.end(), data, data + items.size_bytes());
    return array;
  }
  std::vector<uint8_t> finish(const Header& header) {
    std::memcpy(bytes_.data(), &header, sizeof(header));
    return std::move(bytes_);
  }

 private:
  std::vector<uint8_t> bytes_ = std::vector<uint8_t>(sizeof(Header));
};

void append_uleb(std::vector<uint8_t>& bytes, uint32_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<uint8_t>(value | 0x80));
  bytes.push_back(static_cast<uint8_t>(value));
}

void add_names(Writer& writer, std::span<const uint64_t> pairs, Header& header, size_t kind) {
  std::vector<uint32_t> hashes, starts;
  std::vector<uint8_t> postings;
  uint32_t last = 0;
  for (const uint64_t pair : pairs) {
    const auto hash = static_cast<uint32_t>(pair >> 32), unit = static_cast<uint32_t>(pair);
    if (hashes.empty() || hashes.back() != hash) {
      hashes.push_back(hash);
      starts.push_back(static_cast<uint32_t>(postings.size()));
      last = 0;
    }
    append_uleb(postings, unit - last);
    last = unit;
  }
  starts.push_back(static_cast<uint32_t>(postings.size()));
  header.hashes[kind] = writer.add(std::span<const uint32_t>(hashes));
  header.starts[kind] = writer.add(std::span<const uint32_t>(starts));
  header.postings[kind] = writer.add(std::span<const uint8_t>(postings));
}

template <typename T>
bool find_array(std::span<const uint8_t> bytes, const Array& array, std::span<const T>& items) {
  if (array.offset % kAlignment != 0 || array.offset > bytes.size()) return false;
  if (array.count > (bytes.size() - array.offset) / sizeof(T)) return false;
  items = {reinterpret_cast<const T*>(bytes.data() + array.offset), array.count};
  return true;
}

}  // namespace

std::vector<uint8_t> NameTables::bytes() const {
  Writer writer;
  Header header{.fingerprint = fingerprint};
  header.units = writer.add(std::span<const IndexedUnit>(units));
  header.ranges = writer.add(std::span<const IndexedRange>(ranges));
  header.origins = writer.add(std::span<const IndexedOrigin>(origins));
  for (size_t kind = 0; kind < kIndexedNames; ++kind) {
    header.knows[kind] = names[kind].has_value();
    add_names(writer, names[kind] ? std::span<const uint64_t>(*names[kind]) : std::span<const uint64_t>(),
              header, kind);
  }
  return writer.finish(header);
}

std::optional<NameIndex> NameIndex::read(std::vector<uint8_t> bytes, uint64_t fingerprint) {
  NameIndex index;
  index.bytes_ = std::move(bytes);
  const std::span<const uint8_t> all = index.bytes_;
  Header header;
  if (all.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, all.data(), sizeof(header));
  if (header.fingerprint != fingerprint) return std::nullopt;
  bool fits = find_array(all, header.units, index.units_) && find_array(all, header.ranges, index.ranges_) &&
              find_array(all, header.origins, index.origins_);
  for (size_t kind = 0; kind < kIndexedNames; ++kind) {
    Names& names = index.names_[kind];
    names.is_known = header.knows[kind] != 0;
    fits = fits && find_array(all, header.hashes[kind], names.hashes) &&
           find_array(all, header.starts[kind], names.starts) &&
           find_array(all, header.postings[kind], names.postings) &&
           names.starts.size() == names.hashes.size() + 1;
  }
  if (!fits) return std::nullopt;
  return index;
}

std::optional<std::vector<uint32_t>> NameIndex::units_with(IndexedNames kind, std::string_view name) const {
  const Names& names = names_[static_cast<size_t>(kind)];
  if (!names.is_known) return std::nullopt;
  const uint32_t hash = name_hash(name);
  const auto at = std::lower_bound(names.hashes.begin(), names.hashes.end(), hash);
  std::vector<uint32_t> found;
  if (at == names.hashes.end() || *at != hash) return found;
  const auto i = static_cast<size_t>(at - names.hashes.begin());
  const uint32_t begin = names.starts[i], end = names.starts[i + 1];
  if (begin > end || end > names.postings.size()) return std::nullopt;
  Cursor cursor(names.postings.first(end), begin);
  for (uint64_t unit = 0; !cursor.at_end();) {
    unit += cursor.uleb();
    if (cursor.failed() || unit >= units_.size()) return std::nullopt;
    found.push_back(static_cast<uint32_t>(unit));
  }
  return found;
}

std::vector<uint32_t> NameIndex::units_referring_to(std::span<const uint64_t> entries) const {
  std::vector<uint32_t> found;
  for (const uint64_t entry : entries) {
    auto at = std::lower_bound(origins_.begin(), origins_.end(), entry,
                               [](const IndexedOrigin& o, uint64_t wanted) { return o.entry < wanted; });
    for (; at != origins_.end() && at->entry == entry; ++at)
      if (at->unit < units_.size()) found.push_back(at->unit);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace blip::dwarf
