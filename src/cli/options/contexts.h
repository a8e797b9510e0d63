// SPDX-License-Identifier: MIT
// --context TYPE[,TYPE]...: which fields an event carries besides its time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "session/plan/contexts.h"
#include "session/plan/options.h"

namespace blip::cli {

// One or more types separated by commas. An unknown one is an error that lists the valid ones.
Result<std::vector<session::Context>> parse_contexts(std::string_view text,
                                                     session::ContextRows rows = session::known_contexts());

// `first` then `second`, each context once; a single register that `regs` holds anyway is dropped.
std::vector<session::Context> merge_contexts(const std::vector<session::Context>& first,
                                             const std::vector<session::Context>& second);

// Every context that takes no NAME, and every register: for completion and the manual.
std::vector<std::string_view> plain_contexts();
std::vector<std::string_view> register_names();

}  // namespace blip::cli
