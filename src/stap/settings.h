// SPDX-License-Identifier: MIT
// What a script is parsed for: the command line, and the machine.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace blip::stap {

// The SystemTap whose language this is.
inline constexpr const char* kVersion = "5.6";

struct Settings {
  std::vector<std::string> arguments{};  // $1, $2, ...
  std::string kernel_release{};          // "6.1.0-18-amd64"
  std::string architecture = "x86_64";
  std::map<std::string, std::string> definitions{};            // -D NAME=VALUE
  std::vector<std::pair<std::string, std::string>> globals{};  // -G NAME=VALUE
  std::string command{};                                       // -c, for process probes without a path
  bool is_guru = false;                                        // -g
};

}  // namespace blip::stap
