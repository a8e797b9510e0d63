// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/notices.h"
#include "cli/output/color.h"
#include "cli/view/view.h"
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

Result<ViewTotals> view(const Command& command) {
  const ViewStyle style{view_color(command.color), command.json, command.session.hex, command.selection};
  if (!command.view_dir.empty()) return view_trace(command.view_dir, style);
  TRY(const std::string dir, ctf::newest_trace("."));
  if (!command.quiet) say("viewing " + dir);
  return view_trace(dir, style);
}

// The whole trace was read, and nothing in it is called so.
bool nothing_is_called_so(const ViewSelection& selection, const ViewTotals& totals) {
  return !selection.functions.empty() && !totals.name_matched && totals.stop == ViewTotals::Stop::kNo;
}

}  // namespace

int cmd_view(const Command& command) {
  const Result<ViewTotals> totals = view(command);
  if (!totals) {
    say_error(totals.error().message());
    return kExitFailed;
  }
  if (!command.selection.is_all() && !command.quiet) say(totals_line(*totals));
  if (!nothing_is_called_so(command.selection, *totals)) return kExitFine;
  say_error(fmt::format("no event is called {}: give a name, without a module, as blip view shows it",
                        fmt::join(command.selection.functions, " or ")));
  return kExitFailed;
}

}  // namespace blip::cli
