// SPDX-License-Identifier: MIT
// Types that debugging information describes, read when somebody asks for them.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dwarf/units/die.h"
#include "script/types/type.h"

namespace blip::dwarf {

// Gives facts that are known outside of the entry itself.
class TypeSurroundings {
 public:
  virtual ~TypeSurroundings() = default;
  virtual std::string whole_name(const Dwarf_Die& die) = 0;
  // Finds the definition of a type that is only declared here.
  virtual std::optional<Dwarf_Die> definition(const Dwarf_Die& declaration) = 0;
  // The lowest index, by the language, of an array that does not state it.
  virtual uint64_t lowest_index(const Dwarf_Die& die) = 0;
};

class Types final : public script::TypeSource {
 public:
  explicit Types(TypeSurroundings& surroundings) : surroundings_(surroundings) {}

  const script::Type& of(const Dwarf_Die& type);
  // The type that an entry has (DW_AT_type); void if it has none.
  const script::Type& of_holder(const Dwarf_Die& holder);

  void complete(script::Type& type) override;
  // The entry that gives the number of elements of an array without a constant one (DW_TAG_subrange_type).
  std::optional<Dwarf_Die> range_of(const script::Type& array) const;

 private:
  using Type = script::Type;

  Type& add(Type type);
  void begin(Type& type, const Dwarf_Die& die);  // what costs little
  void read_rest(Type& type, const Dwarf_Die& die);
  void complete_array(Type& type, const Dwarf_Die& die);
  void complete_record(Type& type, Dwarf_Die die);
  void complete_enum(Type& type, const Dwarf_Die& die);
  void complete_typedef(Type& type, const Dwarf_Die& die);
  void make_complex(Type& type);

  void add_members(Type& type, const Dwarf_Die& die, int depth);
  void add_variant(Type& type, const Dwarf_Die& die);
  void add_member(Type& type, const Dwarf_Die& die);
  void add_arguments(Type& type, const Dwarf_Die& die);

  TypeSurroundings& surroundings_;
  std::deque<Type> types_;
  std::unordered_map<const void*, Type*> by_entry_;
  std::vector<Dwarf_Die> entries_;  // by Type::key
  std::unordered_map<const Type*, Dwarf_Die> ranges_;
  int nesting_ = 0;
  Type void_{.kind = script::TypeKind::kVoid, .name = "void"};
};

// Without const, volatile and the like.
std::optional<Dwarf_Die> without_qualifiers(Dwarf_Die type);
// Without other names, too.
std::optional<Dwarf_Die> without_names(Dwarf_Die type);

}  // namespace blip::dwarf
