// SPDX-License-Identifier: MIT
#include "cli/color.h"
#include "cli/commands.h"
#include "cli/notices.h"
#include "cli/view.h"
#include "ctf/trace_dir.h"

namespace blip::cli {
namespace {

ViewColor view_color(ColorChoice choice) {
  switch (choice) {
    case ColorChoice::kAuto:
      return no_color_wanted() ? ViewColor::kNever : ViewColor::kAuto;
    case ColorChoice::kAlways:
      return ViewColor::kAlways;
    case ColorChoice::kNever:
      return ViewColor::kNever;
  }
  return ViewColor::kAuto;
}

Result<int> view(const Command& command) {
  const ViewStyle style{view_color(command.color), command.json};
  if (!command.view_dir.empty()) return view_trace(command.view_dir, style);
  TRY(const std::string dir, ctf::newest_trace("."));
  if (!command.quiet) say("viewing " + dir);
  return view_trace(dir, style);
}

}  // namespace

int cmd_view(const Command& command) {
  const Result<int> code = view(command);
  if (code) return *code;
  say_error(code.error().message());
  return kExitFailed;
}

}  // namespace blip::cli
