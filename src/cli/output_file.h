// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace blip::cli {

// The file of -o: what it holds is replaced. A FIFO without a reader is an error.
Result<Fd> open_output_file(const std::string& file);

}  // namespace blip::cli
