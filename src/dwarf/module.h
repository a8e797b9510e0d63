// SPDX-License-Identifier: MIT
// All that is known of one file, shared by its scopes. Only for this folder.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/addr.h"
#include "dwarf/debug_info.h"
#include "dwarf/frames.h"
#include "dwarf/handles.h"
#include "dwarf/types.h"
#include "dwarf/unit_index.h"

namespace blip::dwarf {

class Module final : public TypeSurroundings {
 public:
  static Result<std::unique_ptr<Module>> open(const DebugImages& images);

  // The unit whose code the address is; none: no unit's.
  UnitIndex* unit_at(FileAddr pc);
  // The one that holds the entry.
  UnitIndex& unit_of(const Dwarf_Die& die);
  const std::vector<Dwarf_Die>& units() const { return units_; }
  // Of all units, made when it is asked for first: it takes some time for large files.
  const Names& names();
  Types& types() { return types_; }
  const FrameTable& frames() const { return *frames_; }
  const std::string& name() const { return name_; }
  // The file that has the code.
  Elf* program() const { return program_.elf ? program_.elf.get() : debug_.elf.get(); }
  // How far below the thread pointer an executable's block begins; none: it has no such variables.
  std::optional<uint64_t> executable_tls_offset() const;

  std::string whole_name(const Dwarf_Die& die) override;
  std::optional<Dwarf_Die> definition(const Dwarf_Die& declaration) override;

 private:
  struct UnitRange {
    FileRange code;
    size_t unit;
  };

  Module() = default;
  void index_units();
  void add_unit(const Dwarf_Die& unit);
  Dwarf_Die with_code(const Dwarf_Die& unit) const;
  uint64_t language_of(const Dwarf_Die& unit);

  std::string name_;
  std::function<bool(const std::string&)> may_open_;
  Handles debug_;    // declared before what is made from them
  Handles program_;  // if the debugging information is in another file
  Handles alternate_;
  std::vector<uint8_t> empty_file_;
  std::vector<Dwarf_Die> units_;
  std::vector<UnitRange> ranges_;                                        // sorted
  std::unordered_map<const void*, std::unique_ptr<UnitIndex>> indexes_;  // by the unit's entry
  std::unordered_map<const void*, uint64_t> languages_;
  std::unique_ptr<Names> names_;
  uint64_t size_ = 0;  // of all entries
  std::unique_ptr<FrameTable> frames_;
  Types types_{*this};
};

}  // namespace blip::dwarf
