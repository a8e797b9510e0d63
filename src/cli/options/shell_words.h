// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace blip::cli {

// A command line in words, as sh would split it: blanks, '...', "...", backslashes. No shell runs, so what a
// shell would act upon ($, |, >, *, ...) is an error unless it is quoted.
Result<std::vector<std::string>> split_shell_words(std::string_view line);

}  // namespace blip::cli
