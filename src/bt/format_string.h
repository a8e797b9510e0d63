// SPDX-License-Identifier: MIT
// printf's formats as bpftrace has them: C's, %r %rx %rh for bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bt/shown.h"
#include "bt/type.h"

namespace blip::bt {

struct FormatPart {
  std::string before;  // text in front of it
  bool is_left = false, has_plus = false, has_base = false, has_zeros = false;
  int width = 0;
  std::string length;  // h, hh, l, ...
  std::string how;     // d, s, rx, ...
};

struct FormatText {
  std::vector<FormatPart> parts;
  std::string behind;
};

FormatText parse_format(std::string_view text);

// Empty: the arguments fit.
std::string wrong_with_format(std::string_view text, const std::vector<Type>& arguments);

std::string apply_format(const FormatText& format, const std::vector<Shown>& arguments);

}  // namespace blip::bt
