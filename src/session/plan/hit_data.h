// SPDX-License-Identifier: MIT
// Makes what the events of a place show of the program's data.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctf/schema.h"
#include "probe/code/module.h"
#include "script/ir/ir.h"
#include "session/plan/options.h"
#include "session/plan/scopes.h"
#include "session/plan/targets.h"

namespace blip::session {

struct HitData {
  script::HitProgram hit;
  std::vector<ctf::Field> fields;    // of its outputs, in the order asked for
  script::HitProgram kept{};         // of returns: values at the entry of the call, its kEntryValue 0, 1, ...
  std::optional<uint64_t> number{};  // of a script's handler: its records have it in place of the address

  bool empty() const { return hit.empty() && fields.empty(); }
};

// For the places of one process; its modules must outlive this. Debugging information is read where it is
// needed.
class HitDataMaker {
 public:
  HitDataMaker(const Options& options, std::span<const probe::Module> modules, DebugStore& store);

  // The error says what of the user's words means nothing at this place.
  Result<HitData> make(const Target& target);

 private:
  Result<HitData> compile(const Target& target);
  Result<HitData> of_handler(const Target& target);
  Result<HitData> compile_at(const Target& target, script::Scope& scope);
  Status add_memory(const MemoryContext& memory, const Target& target, HitData& data) const;

  const Options& options_;
  std::span<const probe::Module> modules_;
  Scopes scopes_;
};

}  // namespace blip::session
