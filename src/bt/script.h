// SPDX-License-Identifier: MIT
// bpftrace's language as a language of blip.
#pragma once

#include "script/front/language.h"

namespace blip::bt {

script::ParsedScript parse_script(const script::ScriptText& text);

inline constexpr script::Language kLanguage = {"bpftrace", "bpftrace", ".bt", parse_script, "", " {}"};

}  // namespace blip::bt
