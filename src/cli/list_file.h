// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "base/error.h"

namespace blip::cli {

// Explains what is wrong with the FILE of `blip list` and what the user probably meant: a script's
// interpreter,
// a command found in PATH, a pid. It reads at most the file's first line.
Error explain_file_error(const std::string& file, const Error& error);

}  // namespace blip::cli
