// SPDX-License-Identifier: MIT
// Short names for the questions that this folder asks about entries (DIEs). The answers may be hostile: every
// walk has an end.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace blip::dwarf {

// Limits how many entries may still be looked at. Entries can be linked so that a walk never ends.
class Budget {
 public:
  explicit Budget(uint64_t entries) : left_(entries) {}
  bool spend() { return left_ != 0 && left_-- != 0; }

 private:
  uint64_t left_;
};

inline constexpr uint64_t kMostEntries = 20'000'000;  // of one unit
inline constexpr uint64_t kMostChildren = 1'000'000;
inline constexpr int kDeepestEntry = 48;

// Looks at the entry itself only.
std::optional<Dwarf_Attribute> own_attribute(const Dwarf_Die& die, unsigned name);
// Looks at the entry, then at the one whose instance or definition it is.
std::optional<Dwarf_Attribute> attribute(const Dwarf_Die& die, unsigned name);

std::optional<uint64_t> number(const Dwarf_Die& die, unsigned name);
bool flag(const Dwarf_Die& die, unsigned name);
bool has(const Dwarf_Die& die, unsigned name);
std::string_view name_of(const Dwarf_Die& die);  // empty: none
std::optional<Dwarf_Die> referred(const Dwarf_Die& die, unsigned name);
int tag_of(const Dwarf_Die& die);
// The first instruction of a function, inlined or not.
std::optional<uint64_t> entry_of(const Dwarf_Die& function);
bool contains(const Dwarf_Die& die, uint64_t pc);
// The constant of an attribute as bits; by its form signed or not.
std::optional<uint64_t> constant_bits(Dwarf_Attribute attribute);

// The entry where it is found first: the abstract one of an instance, the declaration of a definition.
Dwarf_Die original(const Dwarf_Die& die);

// `look` gets each child, and says whether to go on.
template <typename Look>
void for_each_child(const Dwarf_Die& parent, Budget& budget, Look look) {
  Dwarf_Die child, next;
  if (::dwarf_child(const_cast<Dwarf_Die*>(&parent), &child) != 0) return;
  while (budget.spend() && look(child)) {
    if (::dwarf_siblingof(&child, &next) != 0 || next.addr <= child.addr) return;
    child = next;
  }
}

// One place of a variable, and where it is right: [begin, end), which may be empty.
struct LocationEntry {
  Dwarf_Addr begin = 0, end = 0;
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
};
inline constexpr int kMostLocations = 1000;

// `look` gets each entry of a list of locations, and says whether to go on.
template <typename Look>
void for_each_location(Dwarf_Attribute location, Look look) {
  Dwarf_Addr base = 0;
  LocationEntry entry;
  ptrdiff_t at = 0;
  for (int i = 0; i < kMostLocations; ++i) {
    at = ::dwarf_getlocations(&location, at, &base, &entry.begin, &entry.end, &entry.ops, &entry.count);
    if (at <= 0 || !look(entry)) return;
  }
}

template <typename Look>
void for_each_child(const Dwarf_Die& parent, Look look) {
  Budget budget(kMostChildren);
  for_each_child(parent, budget, look);
}

}  // namespace blip::dwarf
