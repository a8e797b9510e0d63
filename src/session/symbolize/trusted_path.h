// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace blip::session {

// True if the path is a regular file that nobody but this user and root can change, or put something else
// into the place of: no link on the way, and no directory that others may write to, unless what is in it
// stays its owner's (/tmp). For files that are opened by others' code, by name.
bool is_ours_alone(const std::string& path);

}  // namespace blip::session
