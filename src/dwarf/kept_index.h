// SPDX-License-Identifier: MIT
// The index of names of one file: from the cache, or made when it is first asked for, and kept there.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file_cache.h"
#include "dwarf/images.h"
#include "dwarf/index/debug_sections.h"
#include "dwarf/index/name_index.h"
#include "dwarf/lines/handles.h"

namespace blip::dwarf {

class KeptIndex {
 public:
  // There is never one.
  KeptIndex() = default;
  // Takes a file that has a build-id and so much debugging information that an index is worth it. Both
  // arguments must outlive this object.
  KeptIndex(const Handles& debug, const IndexCache& cache);

  // Null: there is none yet.
  const NameIndex* get() const { return index_ ? &*index_ : nullptr; }
  bool can_be_made() const { return files_ && !index_; }
  // Null: it cannot be. `units` as libdw finds them, `ranges` sorted.
  const NameIndex* make(std::span<const IndexedUnit> units, std::span<const IndexedRange> ranges);
  // Says for users what became of the index; empty if there is nothing to say.
  const std::string& note() const { return note_; }

 private:
  const FileCache* files_ = nullptr;
  DebugSections sections_;
  std::string name_;  // of the file
  uint64_t fingerprint_ = 0;
  std::optional<NameIndex> index_;
  std::string note_;
};

}  // namespace blip::dwarf
