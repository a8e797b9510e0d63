// SPDX-License-Identifier: MIT
// What a script's config block and the environment say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "bt/tree.h"

namespace blip::bt {

struct Config {
  uint32_t max_strlen = 1024;
  uint32_t max_map_keys = 4096;
  uint32_t max_cat_bytes = 10240;
  std::string str_trunc_trailer = "..";
  std::string stack_mode = "bpftrace";
  std::string missing_probes = "error";
  bool print_maps_on_exit = true;
  bool show_debug_info = true;
};

// The environment (BPFTRACE_MAX_STRLEN=...) wins over the block.
Result<Config> read_config(std::string_view source, const std::vector<ConfigItem>& items);

}  // namespace blip::bt
