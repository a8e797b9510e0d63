// SPDX-License-Identifier: MIT
// The kind of an option's value, known from the name that --help gives it (PID, DIR, ...). Completion is made
// from this.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "cli/options/option_table.h"

namespace blip::cli {

enum class ValueKind {
  kFree,         // a number, a time, a size: nothing to offer
  kFunction,     // a SPEC
  kContext,      // contexts, separated by commas
  kPid,          // a process of the user's
  kProcessName,  // the name of one
  kDirectory,
  kFile,
  kColor,
  kCommand,  // a program in PATH
};

inline constexpr std::array<std::string_view, 3> kColorWords = {"auto", "always", "never"};

// Nothing for a name that is in no table: a test keeps that from happening.
std::optional<ValueKind> find_value_kind(std::string_view name);
// kFree for an unknown name.
ValueKind value_kind(const OptionFact& fact);

// The operands of a verb, read from its synopsis.
struct Operands {
  std::optional<ValueKind> first;  // kDirectory, kFile
  bool command = false;            // `-- CMD ARGS...`
};
Operands operands_of(const VerbFact& verb);

}  // namespace blip::cli
