// SPDX-License-Identifier: MIT
// Functions of texts that handlers apply in blip. They see nothing but their arguments.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "state/types.h"

namespace blip::script {

struct Argument {
  uint64_t number = 0;
  std::string_view text{};
};

struct LibraryFunction {
  std::string_view name;
  std::vector<state::ValueType> parameters;
  state::ValueType result;
  // Fills the one that is the function's result. The caller cuts texts that are too long.
  void (*run)(std::span<const Argument> arguments, uint64_t& number, std::string& text);
};

const std::vector<LibraryFunction>& library();

}  // namespace blip::script
