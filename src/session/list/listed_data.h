// SPDX-License-Identifier: MIT
// What of a program's data can be seen at a place: for `blip list -v`.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "script/types/scope.h"

namespace blip::session {

struct ListedVariable {
  std::string name, type;
  std::string place;  // "rdi", "stack [rsp+0x10]", "optimized out"
  bool is_parameter = false;
};

struct ListedMember {
  std::string name, type;
  uint64_t offset = 0, size = 0;  // bytes
  unsigned bit_offset = 0, bit_size = 0;
};

struct ListedType {
  std::string name;  // "struct request"
  uint64_t size = 0;
  std::vector<ListedMember> members;
};

struct ListedData {
  std::string signature;  // "int parse(struct request * req, int n)"; empty: not known
  std::vector<ListedVariable> variables;
  std::vector<ListedType> types;  // that those are of, or point to
};

// `name`: of the function. `known`: types that were told before, which are not told again.
ListedData listed_data(script::Scope& scope, const std::string& name, std::set<std::string>& known);

}  // namespace blip::session
