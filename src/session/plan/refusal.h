// SPDX-License-Identifier: MIT
// A probe that the user asked for and did not get.
#pragma once

#include <string>

namespace blip::session {

struct Refusal {
  std::string probe;   // "libz.so.1:inflate"
  std::string reason;  // "a branch at inflate+0x40 leads into the bytes to be replaced"
};

}  // namespace blip::session
