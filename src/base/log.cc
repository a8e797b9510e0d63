// SPDX-License-Identifier: MIT
#include "base/log.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace blip {

bool log_enabled(std::string_view module) {
  static const std::string wanted = [] {
    const char* env = secure_getenv("BLIP_LOG");
    return env ? "," + std::string(env) + "," : std::string();
  }();
  if (wanted.empty()) return false;
  if (wanted == ",all,") return true;
  return wanted.find("," + std::string(module) + ",") != std::string::npos;
}

void log_line(std::string_view module, std::string_view text) {
  std::fprintf(stderr, "[%.*s] %.*s\n", int(module.size()), module.data(), int(text.size()), text.data());
}

}  // namespace blip
