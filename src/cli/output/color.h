// SPDX-License-Identifier: MIT
#pragma once

namespace blip::cli {

// --color
enum class ColorChoice { kAuto, kAlways, kNever };

inline constexpr char kNameColor[] = "\x1b[1;36m";  // what a probe or an event is called
inline constexpr char kDim[] = "\x1b[2m";           // what one looks at last
inline constexpr char kBold[] = "\x1b[1m";          // headings
inline constexpr char kErrorColor[] = "\x1b[1;31m";
inline constexpr char kPlain[] = "\x1b[0m";

// True if NO_COLOR forbids colours (no-color.org: it is set and not empty).
bool no_color_wanted();

// --color as given; auto: `fd` is a terminal that knows colours, and NO_COLOR is not set.
bool use_color(ColorChoice choice, int fd);

}  // namespace blip::cli
