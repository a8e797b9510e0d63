// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace blip {

// A number with a meaning. Two kinds do not mix; an integer offset may be added to any.
template <typename Tag>
struct Address {
  uint64_t value = 0;

  constexpr Address() = default;
  constexpr explicit Address(uint64_t v) : value(v) {}

  constexpr auto operator<=>(const Address&) const = default;
  constexpr Address operator+(uint64_t n) const { return Address(value + n); }
  constexpr Address operator-(uint64_t n) const { return Address(value - n); }
  constexpr uint64_t operator-(Address other) const { return value - other.value; }
};

// An address in the target's address space at run time.
using TargetAddr = Address<struct TargetAddrTag>;
// An address in the ELF file's own numbering (st_value, as objdump shows).
using FileAddr = Address<struct FileAddrTag>;
// Byte position in a file.
using FileOffset = Address<struct FileOffsetTag>;

// Half-open: [begin, end).
template <typename A>
struct Range {
  A begin{};
  A end{};

  constexpr bool contains(A a) const { return a >= begin && a < end; }
  constexpr bool overlaps(const Range& o) const { return begin < o.end && o.begin < end; }
  constexpr uint64_t size() const { return end - begin; }
  constexpr bool empty() const { return !(begin < end); }
  constexpr auto operator<=>(const Range&) const = default;
};

using AddrRange = Range<TargetAddr>;
using FileRange = Range<FileAddr>;

}  // namespace blip

template <typename Tag>
struct std::hash<blip::Address<Tag>> {
  size_t operator()(blip::Address<Tag> a) const noexcept { return std::hash<uint64_t>{}(a.value); }
};
