// SPDX-License-Identifier: MIT
// A language of scripts, as the command line sees it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "script/front/script.h"

namespace blip::script {

// A script before it is parsed, and what the command line says to it.
struct ScriptText {
  std::string name;  // for messages: the file, "-e" or "stdin"
  std::string text;
  std::vector<std::string> arguments{};                        // $1, @1, ...
  std::vector<std::pair<std::string, std::string>> globals{};  // -G NAME=VALUE
  std::vector<std::pair<std::string, std::string>> defines{};  // -D NAME=VALUE
  bool json = false;                                           // -f json
  bool may_run_commands = false;                               // --unsafe, -g
  bool is_for_target = false;                                  // a process or a command is traced
  bool parse_only = false;                                     // --parse-only: names and types may be wrong
};

struct ParsedScript {
  Result<std::unique_ptr<Script>> script;
  // Where in the text the error was found: of two languages, the one that got further is meant.
  size_t reached = 0;
};

struct Language {
  std::string_view name;       // --lang NAME
  std::string_view full_name;  // for messages
  std::string_view suffix;     // of files, with the dot
  ParsedScript (*parse)(const ScriptText& text);
  // What makes a script of a probe point, for -l and -L: before it, and behind it. Empty: there are none in this language.
  std::string_view before_point = {}, behind_point = {};
};

}  // namespace blip::script
