// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace blip::proc {

// The file a command's first word stands for, looked up in PATH as a shell does.
struct CommandFile {
  std::string path;  // what exec is given
  // For a script: the program that runs it, and is traced; "/bin/sh" for one without a #! line.
  std::optional<std::string> interpreter_of_script;
  bool has_interpreter_line = false;
  bool privileged = false;  // set-uid, set-gid or with capabilities
  // And it does not get them, because it is traced by a user who may not.
  bool loses_privileges = false;

  // Refuses, each with its own wording: not found, not executable, a directory, not readable, a missing
  // interpreter, a program for another machine.
  static Result<CommandFile> find(const std::string& name);
};

}  // namespace blip::proc
