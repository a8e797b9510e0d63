// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "base/fd.h"
#include "elf/debug_files.h"

namespace blip::elf {

// An absolute link in a container means the container's file, not ours. Never waits for the other end of a
// FIFO.
Fd open_in_root(const SearchRoot& root, const std::string& path);

// The folder in which distributions put debug files.
inline constexpr const char* kDebugDirectory = "/usr/lib/debug";

// The path of a debug file with that build-id: "/usr/lib/debug/.build-id/xx/yyyy.debug"; empty if the id is
// too short.
std::string build_id_path(const std::string& build_id);

}  // namespace blip::elf
