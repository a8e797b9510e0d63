// SPDX-License-Identifier: MIT
// A whole script: the user's text, what it needs of the tapset, and its probes with aliases resolved.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "base/result.h"
#include "script/front/script.h"
#include "stap/settings.h"
#include "stap/tree.h"

namespace blip::stap {

struct Handler {
  script::WantedProbe wanted{};
  ProbePoint point{};      // what fires it
  std::string name{};      // pn(): the point as the script names it
  std::string location{};  // pp() of probes without a hit
  ExpressionPtr condition{};
  std::vector<StatementPtr> bodies{};  // those of aliases around its own
  std::vector<std::unique_ptr<Variable>> locals{};
  Spot spot{};
  bool is_initial = false;  // it sets the globals that have a value at first
};

struct Module {
  Settings settings;
  std::deque<Source> sources;
  std::deque<File> files;  // the user's first
  std::deque<Function> builtins;
  std::multimap<std::string, Function*, std::less<>> functions;
  std::map<std::string, Variable*, std::less<>> globals;  // of the user
  std::vector<Variable*> all_globals;
  std::vector<Handler> handlers;
};

// Parses, resolves and checks a script.
Result<std::unique_ptr<Module>> build_module(Source source, Settings settings);

// The steps of it.
Status expand_aliases(Module& module);  // aliases.cc: makes the handlers
Status resolve_names(Module& module);   // resolve.cc
Status infer_types(Module& module);     // infer.cc
void find_uses(Module& module);         // uses.cc
Status check_loops(Module& module);     // loops.cc

}  // namespace blip::stap
