// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>

#include <string_view>

namespace blip {

// The developer's log is off unless BLIP_LOG is set. BLIP_LOG=proc,ring names modules, BLIP_LOG=all means
// every one. Texts for users go through the printer of the command line instead.
bool log_enabled(std::string_view module);
void log_line(std::string_view module, std::string_view text);

}  // namespace blip

#define BLIP_LOG(module, ...)                                                            \
  do {                                                                                   \
    if (::blip::log_enabled(module)) ::blip::log_line(module, fmt::format(__VA_ARGS__)); \
  } while (0)
