// SPDX-License-Identifier: MIT
// Macros, and conditions on the machine:
//
//     @define twice(x) %( (2 * @x) %)
//     %( arch == "x86_64" && kernel_v >= "4.0" %? then %: else %)
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "stap/settings.h"
#include "stap/token.h"

namespace blip::stap {

struct Macro;
using Macros = std::map<std::string, std::shared_ptr<const Macro>, std::less<>>;

struct Activation;
struct Macro {
  Spot spot;
  std::vector<std::string> parameters;
  std::vector<Token> body;
  bool is_of_library = false;  // its body does not see the script's macros
  // Of an argument: where it was written, whose macro's arguments it may name.
  std::shared_ptr<const Activation> written_in{};
  bool is_argument = false;
};

// The tokens of a file without macros and conditions. What it defines is added to `defined`; a name that is not there is looked
// for in `library`.
Result<std::vector<Token>> preprocess(std::vector<Token> tokens, const Settings& settings,
                                      const Macros& library, Macros& defined);

}  // namespace blip::stap
