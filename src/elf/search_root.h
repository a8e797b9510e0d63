// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "base/fd.h"
#include "elf/debug_files.h"

namespace blip::elf {

// An absolute link in a container means the container's file, not ours. Never waits for the other end of a
// FIFO.
Fd open_in_root(const SearchRoot& root, const std::string& path);

// Where distributions put debug files.
inline constexpr const char* kDebugDirectory = "/usr/lib/debug";

// Where a debug file of that build-id is: "/usr/lib/debug/.build-id/xx/yyyy.debug"; empty: it is too short.
std::string build_id_path(const std::string& build_id);

}  // namespace blip::elf
