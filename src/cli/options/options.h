// SPDX-License-Identifier: MIT
// The command line, parsed. Nothing is looked up in a process here: the same words always give the same
// Command.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/options/option_table.h"
#include "cli/options/view_selection.h"
#include "cli/output/color.h"
#include "session/plan/options.h"

namespace blip::cli {

// What `blip run` is told of its script.
struct RunOptions {
  bool is_text = false;  // -e
  std::string script;    // its text, or its file; "-": stdin
  std::vector<std::string> arguments;
  std::string language;  // empty: to be found out
  std::vector<std::pair<std::string, std::string>> globals;
  std::vector<std::pair<std::string, std::string>> defines;
  bool parse_only = false;
  bool check = false;
  bool dry_run = false;
  bool may_run_commands = false;
  std::string list_point;  // -l, -L; empty: the script is run
  bool list_variables = false;
  bool explain = false;
  bool json = false;
};

struct Command {
  Verb verb = Verb::kNone;  // kNone only with help or version
  bool help = false;
  std::string help_option;  // with help: only of this option
  bool version = false;
  bool quiet = false;
  bool json = false;
  ColorChoice color = ColorChoice::kAuto;
  std::string view_dir;              // view: empty means the newest
  ViewSelection selection;           // view: which events
  std::string output_file;           // trace: empty means stdout
  std::string list_file;             // list: empty means session.pids
  std::string list_glob;             // list: empty means all functions
  bool clean_all = false;            // clean: not only session.pids
  std::string save_dir;              // clean: for what the rings still hold
  bool coverage = false;             // list: how their instructions would be patched
  bool marks = false;                // list: static marks
  std::vector<std::string> remarks;  // how the order of options was understood, if that may surprise
  RunOptions run;                    // run
  session::Options session;          // trace, record, count; pids and verbose also of list and clean
};

// `args` without the program's name. The order of options matters: a context belongs to the probe before it,
// or to all probes when it comes before the first or only behind the last. Every error is a kUsage whose
// message is one line that says what to do.
Result<Command> parse_command(const std::vector<std::string>& args);

}  // namespace blip::cli
