// SPDX-License-Identifier: MIT
// Reads debugging information about the code of one file: variables, types, inlined functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "dwarf/code_location.h"
#include "dwarf/images.h"
#include "dwarf/inlined_instance.h"
#include "script/types/scope.h"

namespace blip::dwarf {

class DebugData;

// Read when asked for, unit by unit. Used by one thread. Scopes and types live as long as this.
class DebugInfo {
 public:
  // kNotFound: there is none, or none that can be read.
  static Result<DebugInfo> open(const DebugImages& images);

  DebugInfo(DebugInfo&&) noexcept;
  DebugInfo& operator=(DebugInfo&&) noexcept;
  ~DebugInfo();

  // Never null: where nothing is known of the code, globals and types are still found. Code of an inlined
  // function has that one's variables, except at the entry of the function around it.
  std::unique_ptr<script::Scope> scope_at(const CodeLocation& site);

  // Every copy of the inlined functions of that name, sorted; of several that begin at one instruction the
  // outermost.
  std::vector<InlinedInstance> inlined_instances(const InlinedName& name);
  std::unique_ptr<script::Scope> scope_of(const InlinedInstance& instance, const CodeLocation& site);

  // For CodeLocation, if this is the executable of the process and not a library.
  std::optional<uint64_t> executable_tls_offset() const;

  // For this folder.
  DebugData& debug_data() { return *debug_data_; }

  // Says how names are found; empty if there is nothing to say.
  const std::string& index_note() const;

 private:
  explicit DebugInfo(std::unique_ptr<DebugData> debug_data);

  std::unique_ptr<DebugData> debug_data_;
};

}  // namespace blip::dwarf
