// SPDX-License-Identifier: MIT
// What all handlers of a script share.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "bt/c_types.h"
#include "bt/config.h"
#include "bt/shapes.h"
#include "bt/tree.h"

namespace blip::bt {

struct Declarations {
  std::string name = "stdin";  // of the script
  std::string source;
  Tree tree;
  CTypes types;
  Config config;
  Shapes shapes;
  std::vector<std::string> parameters;  // $1, $2, ...
  std::map<std::string, ExprPtr, std::less<>> defines;
  bool may_run_commands = false;
  uint32_t longest_text = 0;  // bytes that str() reads, if it is not told
  std::vector<std::string> warnings;

  // Made if need be.
  MapShape& map(const std::string& name);
  uint32_t index_of(const MapShape& map) const;
};

}  // namespace blip::bt
