// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <cstring>

#include "cli/color.h"
#include "cli/commands.h"
#include "cli/list_file.h"
#include "cli/list_table.h"
#include "cli/notices.h"
#include "cli/output.h"
#include "cli/signals.h"

namespace blip::cli {
namespace {

Result<session::ListRequest> request_of(const Command& command) {
  session::ListRequest request{.file = command.list_file, .details = command.session.verbose};
  if (!command.session.pids.empty()) request.pid = command.session.pids.front();
  if (command.list_glob.empty()) return request;
  TRY(elf::Spec spec, elf::parse_spec(command.list_glob));
  if (spec.kind == elf::SpecKind::kSymbolOffset && spec.offset != 0)
    return Error(ErrorKind::kUsage, "'" + command.list_glob + "': blip list takes names, not offsets");
  if (spec.kind == elf::SpecKind::kSymbolOffset) spec.kind = elf::SpecKind::kName;
  request.spec = std::move(spec);
  return request;
}

Result<session::Listing> make_listing(const Command& command) {
  TRY(const session::ListRequest request, request_of(command));
  auto listing = session::list_functions(request);
  if (listing || request.pid != 0) return listing;
  return explain_file_error(request.file, listing.error());
}

bool print(const Command& command, const session::Listing& listing) {
  const bool verbose = command.session.verbose;
  Output output(STDOUT_FILENO, &StopSignals::requested);
  output.write(command.json ? list_json(listing, verbose)
                            : list_table(listing, {.header = isatty(STDOUT_FILENO) == 1,
                                                   .color = use_color(command.color, STDOUT_FILENO),
                                                   .details = verbose}));
  if (output.error() == 0) return true;
  say_error(std::string("stdout: ") + std::strerror(output.error()));
  return false;
}

}  // namespace

int cmd_list(const Command& command) {
  const auto listing = make_listing(command);
  if (!listing) {
    say_error(listing.error().message());
    return listing.error().kind() == ErrorKind::kUsage ? kExitUsage : kExitFailed;
  }
  const bool printed = print(command, *listing);
  if (!command.quiet) {
    if (command.session.verbose)
      for (const std::string& note : listing->notes) say(note);
    say(list_summary(*listing));
  }
  return printed ? kExitFine : kExitFailed;
}

}  // namespace blip::cli
