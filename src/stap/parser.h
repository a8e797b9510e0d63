// SPDX-License-Identifier: MIT
#pragma once

#include "base/result.h"
#include "stap/preprocessor.h"
#include "stap/tree.h"

namespace blip::stap {

// The declarations of a source, which must live as long as they. `macros` are those of the tapset.
Result<File> parse(const Source& source, const Settings& settings, const Macros& macros);

// The macros that a source of the tapset defines; it has nothing else.
Result<Macros> parse_macros(const Source& source, const Settings& settings);

// A number as in C; nullopt: it is none, or too large.
std::optional<uint64_t> parse_number(const std::string& text);

}  // namespace blip::stap
