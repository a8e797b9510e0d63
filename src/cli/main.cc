// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "base/give_back.h"
#include "cli/commands.h"
#include "cli/help/help.h"
#include "cli/notices.h"
#include "cli/options/options.h"
#include "cli/output/color.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/standard_descriptors.h"

namespace blip::cli {
namespace {

int print(const std::string& text) { return Output(STDOUT_FILENO).write(text) ? kExitFine : kExitFailed; }

int dispatch(const Command& command) {
  if (command.version) return print(std::string("blip ") + kVersion + "\n");
  if (!command.help_option.empty()) return print(option_help(command.help_option));
  if (command.help) return print(command.verb == Verb::kNone ? general_help() : verb_help(command.verb));
  use_error_color(use_color(command.color, STDERR_FILENO));
  std::optional<ProgressReporter> progress;
  if (!command.quiet) progress.emplace(STDERR_FILENO);
  switch (command.verb) {
    case Verb::kTrace:
      return cmd_trace(command);
    case Verb::kRecord:
      return cmd_record(command);
    case Verb::kCount:
      return cmd_count(command);
    case Verb::kRun:
      return cmd_run(command);
    case Verb::kList:
      return cmd_list(command);
    case Verb::kView:
      return cmd_view(command);
    case Verb::kClean:
      return cmd_clean(command);
    case Verb::kNone:
      break;
  }
  return kExitUsage;
}

int run(const std::vector<std::string>& arguments) {
  const auto command = parse_command(arguments);
  if (command) return dispatch(*command);
  use_error_color(use_color(ColorChoice::kAuto, STDERR_FILENO));
  say_error(command.error().message());
  return kExitUsage;
}

}  // namespace
}  // namespace blip::cli

int main(int argc, char** argv) {
  using namespace blip::cli;
  blip::map_large_blocks();
  open_standard_descriptors();
  const int code = run(std::vector<std::string>(argv + (argc > 0), argv + argc));
  say_rest();
  return code;
}
