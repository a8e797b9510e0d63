// SPDX-License-Identifier: MIT
// SystemTap's language, as sessions see it.
#pragma once

#include "script/front/language.h"

namespace blip::stap {

script::ParsedScript parse_script(const script::ScriptText& text);

}  // namespace blip::stap
