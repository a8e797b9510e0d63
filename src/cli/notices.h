// SPDX-License-Identifier: MIT
// The lines blip writes to stderr. Scripts parse the armed and the summary line: their words are a contract.
#pragma once

#include <string>
#include <string_view>

#include "cli/output/output.h"
#include "session/process/armed.h"
#include "session/process/summary.h"

namespace blip::cli {

std::string armed_line(const session::Armed& armed);
std::string summary_line(const session::Summary& summary);
std::string refusal_line(const session::Refusal& refusal);

// Writes "blip: TEXT\n" to stderr, the text escaped.
void say(std::string_view text);
// The same for errors and warnings: "blip:" stands out where stderr has colours. Notices never have any:
// scripts parse them.
void say_error(std::string_view text);
void use_error_color(bool color);
// Says what became of stdout, if it failed or its reader was given up. False if it failed.
bool tell_output(const Output& output, std::string_view name = "stdout");
// Writes a table, or other text that is ready, to stderr.
void say_text(std::string_view text);

// None of these waits for a reader of stderr. What there is no room for is kept: say_kept() tries again,
// without waiting; say_rest() waits, but not long for a reader that takes nothing.
void say_kept();
void say_rest();

}  // namespace blip::cli
