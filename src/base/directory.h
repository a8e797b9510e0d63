// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace blip {

// The names in a directory, without "." and "..", in no order. All of them or an error: readdir(3) ends a
// list that breaks off as it ends a whole one.
Result<std::vector<std::string>> list_directory(const std::string& path, int relative_to = AT_FDCWD);

}  // namespace blip
