// SPDX-License-Identifier: MIT
// The parts of a program that all handlers of a script share: its globals as maps, and the functions that blip calls.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "script/blocks/blocks.h"
#include "script/front/script.h"
#include "stap/module.h"

namespace blip::stap {

struct Limits {
  uint32_t text = 511;      // MAXSTRINGLEN - 1
  uint32_t entries = 2048;  // MAXMAPENTRIES
  uint32_t nesting = 10;    // MAXNESTING
  uint64_t actions = 0;     // MAXACTION; 0: blip's own limit
  uint64_t errors = 0;      // MAXERRORS
};
Result<Limits> limits_of(const Settings& settings);

state::ValueType value_type(Type type);

class ProgramMaker {
 public:
  ProgramMaker(Module& module, const Limits& limits) : module_(module), limits_(limits) {}

  // Adds the globals to a program that this one has not seen yet.
  Status begin(script::Program& program);

  Module& module() { return module_; }
  const Limits& limits() const { return limits_; }
  script::Program& program() { return *program_; }
  uint32_t map_of(const Variable& global) const { return maps_.at(&global); }
  // The number of the first of these functions of one name, which hands on to the next by `next`.
  Result<uint32_t> function(const std::vector<Function*>& overloads, size_t which);

  // True if it reads the target, and so is made part of each handler that calls it.
  bool needs_hit(Function& f);
  bool needs_hit(Expression& e);
  bool uses_stack(Handler& h);

 private:
  Status add_map(Variable& global);
  Result<state::Histogram> histogram_of(const Variable& global);
  void find_variance(const Variable& global, state::MapType& map);
  void for_each_body(const std::function<void(Statement&)>& visit);
  template <typename Test>
  bool any_call(Expression& e, const Test& test, std::set<const Function*>& seen);

  Module& module_;
  Limits limits_;
  script::Program* program_ = nullptr;
  std::map<const Variable*, uint32_t> maps_;
  std::map<std::pair<const Function*, size_t>, uint32_t> functions_;
  std::map<const Function*, bool> needs_hit_;
};

}  // namespace blip::stap
