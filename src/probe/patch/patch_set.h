// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "probe/patch/patches.h"

namespace blip::probe {

// All places of a target that a trace leads into pads, from the plan to the end. Knows which of them are in
// the text, of which only a part is, and those that were there once: in the text of children of forks, or in
// libraries that have gone and may come back. Pure: others write the text, and tell it here.
class PatchSet {
 public:
  // Whether the text of a process holds what the edit makes of it.
  using IsInText = std::function<bool(const Edit&)>;
  using Dropped = std::function<Status(const Patch&, size_t edit)>;

  // Those that are armed, or being armed (fresh).
  const PatchTable& table() const { return table_; }

  // Patches that are not in the text yet. replace() forgets the ones before.
  void add(PatchTable made);
  void replace(PatchTable made);

  // Of the fresh edits, in one stop or several:
  void begin_stops();
  EditMask unwritten(EditMask edits) const;
  size_t unwritten_count() const;
  // A patch is fresh until all of its edits are there.
  void note_written(const EditMask& edits);
  void note_all_written();
  // The fresh edits that must not be missing while any probe is live: those of patches that are no probe's,
  // of those that `is_guard` names, and what these need.
  EditMask guards(const std::function<bool(const Patch&)>& is_guard) const;
  // True if any probe's patch is in the text.
  bool any_armed() const;

  // Fresh patches that will not be in the text; `dropped` is told of each. One of which a part has been
  // written stays, to be restored.
  Status drop(const EditMask& edits, const Dropped& dropped);
  void drop_fresh(const std::function<void(const Patch&)>& dropped);
  // None of the fresh ones is there: their library has gone.
  void drop_unloaded();
  // The edits of some patches, and everything that needs one of them.
  EditMask dependents_of(const std::set<const Patch*>& patches) const;

  // True if a window at this place would meet another one's bytes, or lead a thread from an old pad into its
  // middle.
  bool conflicts_with(const x86::Rewrite& rewrite) const;

  // The patch of a probe, if no probe of its site is needed any more, nor its bytes by another patch.
  std::optional<size_t> find_unneeded(size_t probe, const std::set<size_t>& removed) const;
  EditMask edits_of(size_t patch) const;
  // Its text has been restored. A child of a fork may still have its jump.
  void retire(size_t patch);

  // A library that may go.
  void add_library(AddrRange library) { libraries_.push_back(library); }
  // It has gone; `file` tells libraries apart that were at one place.
  void forget(AddrRange library, const void* file);
  // The same file is at the same place again. False: it had no patches.
  bool revive(AddrRange library, const void* file);
  // Whether places in the range that should be patched are; true if there should be none.
  bool is_patched(AddrRange range, const IsInText& is_in_text) const;

  // The table without the libraries that a process has not; none if it has all of them.
  std::optional<PatchTable> without_absent(const IsInText& is_in_text) const;
  // What was taken out of the process, but may be in the text of its children, a table each.
  const std::vector<PatchTable>& retired() const { return retired_; }
  // The same for a child, with the libraries that it still has.
  std::vector<PatchTable> retired_in_child(const IsInText& is_in_text) const;

 private:
  struct Forgotten {
    AddrRange library;
    const void* file;
    PatchTable table;
  };

  std::vector<bool> begun() const;
  Patch& patch_of(size_t edit) { return table_.patches[table_.edits.edits()[edit].patch]; }
  const Patch& patch_of(size_t edit) const { return table_.patches[table_.edits.edits()[edit].patch]; }

  PatchTable table_;
  EditMask written_;                     // of the fresh edits, where several stops are needed
  std::vector<PatchTable> retired_;      // one each that was taken out
  std::vector<x86::Rewrite> once_here_;  // of sites that were taken out: threads may still be in their pads
  std::vector<AddrRange> libraries_;     // that may go
  std::vector<Forgotten> forgotten_;     // libraries that have gone, with their patches
};

}  // namespace blip::probe
