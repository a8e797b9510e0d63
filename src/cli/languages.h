// SPDX-License-Identifier: MIT
// The languages of scripts that this blip has.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "script/front/language.h"

namespace blip::cli {

std::span<const script::Language> languages();

// The language is the one named; else that of the file's suffix; else the first that parses the text. If none does, the
// error is that of the language that got further, which it names.
Result<std::unique_ptr<script::Script>> parse_script(const script::ScriptText& text,
                                                     const std::string& language);

// A script that does nothing at a probe point, by the language that has such points.
Result<std::unique_ptr<script::Script>> parse_point(const std::string& point, const std::string& language);

}  // namespace blip::cli
