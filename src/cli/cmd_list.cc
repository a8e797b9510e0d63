// SPDX-License-Identifier: MIT
#include <unistd.h>

#include "cli/commands.h"
#include "cli/list_file.h"
#include "cli/notices.h"
#include "cli/output/color.h"
#include "cli/output/output.h"
#include "cli/show/coverage_table.h"
#include "cli/show/list_table.h"
#include "cli/show/mark_table.h"
#include "elf/mark_spec.h"

namespace blip::cli {
namespace {

Result<session::ListRequest> request_of(const Command& command) {
  session::ListRequest request{.file = command.list_file,
                               .details = command.session.verbose,
                               .no_inline = command.session.no_inline,
                               .moved_faults = command.session.moved_faults};
  if (!command.session.pids.empty()) request.pid = command.session.pids.front();
  if (const std::string& name = command.session.process_name; !name.empty()) {
    TRY(request.pid, session::process_named(name));
  }
  if (command.list_glob.empty()) return request;
  if (command.marks) {
    TRY(request.spec, elf::parse_mark_spec(command.list_glob));
    return request;
  }
  TRY(elf::Spec spec, elf::parse_spec(command.list_glob));
  if (spec.kind == elf::SpecKind::kSymbolOffset && spec.offset != 0)
    return Error(ErrorKind::kUsage, "'" + command.list_glob + "': blip list takes names, not offsets");
  if (spec.kind == elf::SpecKind::kSymbolOffset) spec.kind = elf::SpecKind::kName;
  request.spec = std::move(spec);
  return request;
}

template <typename T>
Result<T> made(const Command& command, Result<T> (*make)(const session::ListRequest&)) {
  TRY(const session::ListRequest request, request_of(command));
  auto result = make(request);
  if (result || request.pid != 0) return result;
  return explain_file_error(request.file, result.error());
}

// The listing for stdout, and the notices about it for stderr.
struct Text {
  std::string body;
  std::vector<std::string> notes;
  std::string summary;
};

Result<Text> functions_text(const Command& command) {
  TRY(const session::Listing listing, made(command, &session::list_functions));
  const bool verbose = command.session.verbose;
  return Text{command.json ? list_json(listing, verbose)
                           : list_table(listing, {.header = isatty(STDOUT_FILENO) == 1,
                                                  .color = use_color(command.color, STDOUT_FILENO),
                                                  .details = verbose}),
              listing.notes, list_summary(listing)};
}

Result<Text> coverage_text(const Command& command) {
  TRY(const session::InstructionCoverage coverage, made(command, &session::find_coverage));
  return Text{command.json ? coverage_json(coverage)
                           : coverage_table(coverage, use_color(command.color, STDOUT_FILENO)),
              coverage.notes, coverage_summary(coverage)};
}

Result<Text> marks_text(const Command& command) {
  TRY(const session::MarkListing listing, made(command, &session::list_marks));
  return Text{command.json ? mark_json(listing)
                           : mark_table(listing, {.header = isatty(STDOUT_FILENO) == 1,
                                                  .color = use_color(command.color, STDOUT_FILENO),
                                                  .details = command.session.verbose}),
              listing.notes, mark_summary(listing)};
}

bool print(const std::string& text) {
  Output output(STDOUT_FILENO);
  output.write(text);
  return tell_output(output);
}

}  // namespace

int cmd_list(const Command& command) {
  const auto text = command.marks      ? marks_text(command)
                    : command.coverage ? coverage_text(command)
                                       : functions_text(command);
  if (!text) {
    say_error(text.error().message());
    return text.error().kind() == ErrorKind::kUsage ? kExitUsage : kExitFailed;
  }
  const bool printed = print(text->body);
  if (!command.quiet) {
    if (command.session.verbose)
      for (const std::string& note : text->notes) say(note);
    say(text->summary);
  }
  return printed ? kExitFine : kExitFailed;
}

}  // namespace blip::cli
