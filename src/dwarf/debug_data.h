// SPDX-License-Identifier: MIT
// All that is known of one file, shared by its scopes. Only for this folder.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/addr.h"
#include "dwarf/call_sites.h"
#include "dwarf/frames.h"
#include "dwarf/images.h"
#include "dwarf/index/mentions.h"
#include "dwarf/kept_index.h"
#include "dwarf/lines/handles.h"
#include "dwarf/units/entry_symbols.h"
#include "dwarf/units/types.h"
#include "dwarf/units/unit_index.h"

namespace blip::dwarf {

class DebugData final : public TypeSurroundings {
 public:
  static Result<std::unique_ptr<DebugData>> open(const DebugImages& images);

  // The unit whose code the address is; none: no unit's.
  UnitIndex* unit_at(FileAddr pc);
  // The one that holds the entry.
  UnitIndex& unit_of(const Dwarf_Die& die);
  std::vector<Dwarf_Die> units();
  // Returns the units that may have an entry of this name, the whole name of a function, variable or type;
  // after them those of the alternate file. If the name is empty it returns all units. The name of an inlined
  // function may be mangled.
  std::vector<Dwarf_Die> units_naming(std::string_view name, IndexedNames kind);
  // Those that may refer to one of the entries, which may be the alternate file's.
  std::vector<Dwarf_Die> units_referring_to(std::span<const Dwarf_Die> entries);
  // Returns what `look` finds first in the names of a unit, if they may hold this name.
  template <typename Look>
  auto find_in_units(std::string_view name, Look look) -> decltype(look(std::declval<const Names&>())) {
    for (const Dwarf_Die& unit : units_naming(name, IndexedNames::kGlobal))
      if (auto found = look(unit_of(with_code(unit)).names())) return found;
    return {};
  }
  // The unit itself, or the one in a file of its own (.dwo) that it stands for.
  Dwarf_Die with_code(const Dwarf_Die& unit) const;
  Types& types() { return types_; }
  const FrameTable& frames() const { return *frames_; }
  CallSites& calls() { return calls_; }
  const std::string& name() const { return name_; }
  // The file that has the code.
  Elf* program() const { return program_.elf ? program_.elf.get() : debug_.elf.get(); }
  const EntrySymbols& entry_symbols();
  // The distance from the beginning of the executable's block of thread-local variables up to the thread
  // pointer; nullopt if it has no such variables.
  std::optional<uint64_t> executable_tls_offset() const;

  const std::string& index_note() const { return index_.note(); }

  std::string whole_name(const Dwarf_Die& die) override;
  std::optional<Dwarf_Die> definition(const Dwarf_Die& declaration) override;
  uint64_t lowest_index(const Dwarf_Die& die) override;

 private:
  DebugData() = default;
  void index_units();
  void use_index(const NameIndex& index);
  const NameIndex* make_index();
  Dwarf_Die unit(size_t number);
  std::set<size_t> search_units(std::string_view identifier);
  void add_skeletons(std::set<size_t>& chosen);
  void add_units(Dwarf* dwarf);
  void add_unit(const Dwarf_Die& unit);
  // Searches the units from `first` to before `last`, whose offsets increase.
  std::optional<size_t> unit_around(uint64_t offset, size_t first, size_t last) const;
  std::vector<Dwarf_Die> chosen_units(const std::set<size_t>& chosen);
  Elf* alternate() const { return debug_.alternate ? debug_.alternate->elf.get() : nullptr; }
  std::vector<std::pair<uint64_t, size_t>> string_tables();
  uint64_t language_of(const Dwarf_Die& unit);

  std::string name_;
  std::function<bool(const std::string&)> may_open_;
  Handles debug_;    // declared before what is made from them
  Handles program_;  // if the debugging information is in another file
  KeptIndex index_;
  // Its own, then those of the alternate file. With an index the own ones are filled in when they are needed.
  std::vector<Dwarf_Die> units_;
  size_t own_units_ = 0, ordered_units_ = 0;  // of the own: those whose offsets go up
  std::vector<IndexedRange> ranges_;          // sorted
  std::unordered_map<const void*, std::unique_ptr<UnitIndex>> indexes_;  // by the unit's entry
  std::unordered_map<const void*, uint64_t> languages_;
  std::vector<uint64_t> offsets_;  // of the units' entries in .debug_info of their file
  std::optional<Mentions> mentions_, alternate_mentions_;
  uint64_t looked_through_ = 0;  // bytes, for definitions of what is declared only
  std::unique_ptr<FrameTable> frames_;
  std::optional<EntrySymbols> entry_symbols_;  // read when they are asked for
  Types types_{*this};
  CallSites calls_{*this};
};

}  // namespace blip::dwarf
