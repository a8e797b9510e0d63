// SPDX-License-Identifier: MIT
#include "cli/output/color.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace blip::cli {

bool no_color_wanted() {
  const char* no_color = std::getenv("NO_COLOR");
  return no_color && *no_color;
}

bool use_color(ColorChoice choice, int fd) {
  if (choice != ColorChoice::kAuto) return choice == ColorChoice::kAlways;
  const char* term = std::getenv("TERM");
  return isatty(fd) && !no_color_wanted() && !(term && std::string_view(term) == "dumb");
}

}  // namespace blip::cli
