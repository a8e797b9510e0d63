// SPDX-License-Identifier: MIT
// Lists what one compilation unit holds. One walk over its entries finds it and skips the bodies of
// functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/addr.h"
#include "dwarf/units/die.h"

namespace blip::dwarf {

// Entries by their whole names ("ns::request"). The first definition of a name counts.
struct Names {
  std::unordered_map<std::string, Dwarf_Die> variables;
  std::unordered_map<std::string, Dwarf_Die> declared;  // variables that are defined elsewhere
  std::unordered_map<std::string, Dwarf_Die> tags;      // struct, class, union, enum
  std::unordered_map<std::string, Dwarf_Die> aliases;   // typedefs and base types
};

class UnitIndex {
 public:
  explicit UnitIndex(const Dwarf_Die& unit);

  // The innermost function whose code the address is.
  std::optional<Dwarf_Die> function_at(FileAddr address) const;
  const std::vector<Dwarf_Die>& functions() const { return functions_; }
  Names& names() { return names_; }
  const Dwarf_Die& unit() const { return unit_; }
  uint64_t language() const { return language_; }

  // The name of the entry with those of the namespaces and classes around it, as C++ would write it.
  std::string whole_name(const Dwarf_Die& die) const;
  // Those around it only: "ns::", or empty.
  std::string prefix_of(const Dwarf_Die& die) const;

 private:
  struct Container {
    const void* begin;
    const void* end;
    std::string prefix;
    size_t outer;  // or kNone
  };
  static constexpr size_t kNone = SIZE_MAX;
  struct Code {
    FileRange range;
    size_t function;
  };

  void walk(const Dwarf_Die& parent, const std::string& prefix, int depth);
  bool visit(const Dwarf_Die& die, const std::string& prefix, int depth);
  void add_container(const Dwarf_Die& die, const std::string& prefix, int depth);
  void add_function(const Dwarf_Die& die, const std::string& prefix, int depth);
  void walk_body(const Dwarf_Die& die, const std::string& prefix, int depth);
  void add_type(const Dwarf_Die& die, const std::string& prefix, int depth);
  void name_variables();
  void name_declared();
  bool has_scopes() const;

  Dwarf_Die unit_;
  uint64_t language_ = 0;
  Budget budget_{kMostEntries};
  std::vector<Dwarf_Die> functions_;
  std::vector<Code> code_;             // sorted by begin
  std::vector<Container> containers_;  // outer ones before inner ones
  size_t container_ = kNone;           // where the walk is
  std::vector<Dwarf_Die> variables_;   // until all containers are known
  Names names_;
};

bool is_c_plus_plus(uint64_t language);
bool is_c(uint64_t language);

}  // namespace blip::dwarf
