// SPDX-License-Identifier: MIT
// Functions that handlers apply in blip: the one table of both languages. They see their arguments, and what the session knows.
// Functions of one subject are in a file of their own; a new file is one more line in library.cc. What is printed or done, such as
// a command that is run, is no function: handlers emit it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "script/blocks/world.h"
#include "state/types.h"

namespace blip::script {

struct Argument {
  uint64_t number = 0;
  std::string_view text{};
};

struct LibraryCall {
  std::span<const Argument> arguments;
  World* world = nullptr;  // null: there is no session, and nothing of it is known
  // The result: the one that the function has. The caller cuts texts that are too long.
  uint64_t number = 0;
  std::string text{};
  std::string failure{};  // not empty: the call fails with this message
};

struct LibraryFunction {
  std::string_view name;  // a word
  std::vector<state::ValueType> parameters;
  state::ValueType result;
  void (*run)(LibraryCall& call);
};

// All of them; a function's place does not change while blip runs.
const std::vector<LibraryFunction>& library();
// Its place there; kNone of script/ir/ir.h if there is none.
uint32_t find_library_function(std::string_view name);

// The parts of the table.
std::span<const LibraryFunction> text_functions();       // library_texts.cc
std::span<const LibraryFunction> world_functions();      // library_world.cc
std::span<const LibraryFunction> systemtap_functions();  // library_systemtap.cc

}  // namespace blip::script
