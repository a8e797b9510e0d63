// SPDX-License-Identifier: MIT
// From the tree to blocks.
#pragma once

#include "script/front/script.h"
#include "stap/program_maker.h"

namespace blip::stap {

// A handler at a place; null: of a probe without one.
Result<script::Lowered> lower_handler(ProgramMaker& maker, uint32_t probe, script::HitSite* site);

Result<script::Function> lower_function(ProgramMaker& maker, const std::vector<Function*>& overloads,
                                        size_t which, const std::string& name);

// What a format that begins with this letter means to the printer (printer.h), behind kSpecial.
inline constexpr char kSpecial = '\x01';
enum class Special : char {
  kHistogram = 'h',  // "h3": that of map 3, at the key
  kBucket = 'b',     // "b3": one of its buckets: the key, then the bucket's number
  kWarning = 'w',    // a warning's text
  kProbe = 'p',      // pp() of a probe's number
  kName = 'n',       // pn()
  kType = 't',       // probe_type()
};

}  // namespace blip::stap
