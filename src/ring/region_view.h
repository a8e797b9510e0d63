// SPDX-License-Identifier: MIT
// A region as someone sees who did not make it: in a mapping of blip's own, or in the memory of another process. Where
// things lie is what the header says, which is the target's word: nothing is believed that does not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "abi/layout.h"
#include "base/result.h"

namespace blip::ring {

class RegionView {
 public:
  // Reads all of the bytes at an offset from the header, or fails.
  using Read = std::function<Status(uint64_t offset, std::span<uint8_t> to)>;

  // Somewhere else, `size` bytes.
  RegionView(uint64_t size, Read read) : size_(size), read_(std::move(read)) {}
  // Mapped here; the mapping must outlive the view.
  explicit RegionView(std::span<const uint8_t> mapped);

  uint64_t size() const { return size_; }
  // kInvalid if it is not all inside of the region.
  Status read(uint64_t offset, std::span<uint8_t> to) const;
  template <typename T>
  Result<T> value(uint64_t offset) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    TRY_OK(read(offset, {reinterpret_cast<uint8_t*>(&value), sizeof value}));
    return value;
  }
  Result<abi::DataHeader> header() const { return value<abi::DataHeader>(0); }

  // kNone if the header has no such area, or one that is not inside of the region.
  abi::Area area(const abi::DataHeader& untrusted, abi::AreaId id) const {
    return abi::checked_area(untrusted, id, size_);
  }
  // The first `count` entries of an area. kInvalid if it has not as many.
  template <typename T>
  Result<std::vector<T>> entries(const abi::DataHeader& untrusted, abi::AreaId id, size_t count) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const abi::Area from = area(untrusted, id);
    if (count > from.size / sizeof(T)) return outside();
    std::vector<T> all(count);
    TRY_OK(read(from.offset, {reinterpret_cast<uint8_t*>(all.data()), count * sizeof(T)}));
    return all;
  }

  // What the geometry is of a region that holds records, if all areas lie where this version of blip puts them; else
  // nullopt. Fails if it cannot be read.
  Result<std::optional<abi::Geometry>> geometry(const abi::DataHeader& untrusted) const;

 private:
  static Error outside() { return Error(ErrorKind::kInvalid, "the memory that blip left is damaged"); }

  uint64_t size_;
  Read read_;
};

}  // namespace blip::ring
