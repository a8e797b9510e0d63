// SPDX-License-Identifier: MIT
#include "bt/config.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace blip::bt {

namespace {

constexpr uint32_t kMostText = 65000;  // what a text of a handler can have
constexpr uint32_t kMostKeys = 1 << 24;

// Null if the value is right; else what it should be.
using Set = const char* (*)(Config& config, const std::string& value);

const char* number(const std::string& value, uint32_t most, uint32_t& to) {
  uint32_t n = 0;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (failed != std::errc() || end != value.data() + value.size() || n > most)
    return "a number, and not a larger one";
  to = n;
  return nullptr;
}

const char* truth(const std::string& value, bool& to) {
  if (value != "true" && value != "false" && value != "1" && value != "0") return "true or false";
  to = value == "true" || value == "1";
  return nullptr;
}

const char* one_of(const std::string& value, std::initializer_list<const char*> words, const char* what,
                   std::string& to) {
  if (std::find(words.begin(), words.end(), value) == words.end()) return what;
  to = value;
  return nullptr;
}

const char* nothing(Config&, const std::string&) { return nullptr; }

struct Setting {
  const char* name;
  Set set;
};
constexpr Setting kSettings[] = {
    {"max_strlen", [](Config& c, const std::string& v) { return number(v, kMostText, c.max_strlen); }},
    {"strlen", [](Config& c, const std::string& v) { return number(v, kMostText, c.max_strlen); }},
    {"max_map_keys", [](Config& c, const std::string& v) { return number(v, kMostKeys, c.max_map_keys); }},
    {"max_cat_bytes", [](Config& c, const std::string& v) { return number(v, UINT32_MAX, c.max_cat_bytes); }},
    {"str_trunc_trailer",
     [](Config& c, const std::string& v) -> const char* {
       c.str_trunc_trailer = v;
       return nullptr;
     }},
    {"stack_mode",
     [](Config& c, const std::string& v) {
       return one_of(v, {"bpftrace", "perf", "raw"}, "bpftrace, perf or raw", c.stack_mode);
     }},
    {"missing_probes",
     [](Config& c, const std::string& v) {
       return one_of(v, {"error", "warn", "ignore"}, "error, warn or ignore", c.missing_probes);
     }},
    {"print_maps_on_exit", [](Config& c, const std::string& v) { return truth(v, c.print_maps_on_exit); }},
    {"show_debug_info", [](Config& c, const std::string& v) { return truth(v, c.show_debug_info); }},
    // These say how bpftrace loads its programs into the kernel, or shows names: there is nothing to be set here.
    {"cache_user_symbols", nothing},
    {"cpp_demangle", nothing},
    {"lazy_symbolication", nothing},
    {"license", nothing},
    {"log_size", nothing},
    {"max_bpf_progs", nothing},
    {"max_probes", nothing},
    {"on_stack_limit", nothing},
    {"perf_rb_pages", nothing},
    {"max_type_res_iterations", nothing},
    {"unstable_tseries", nothing},
    {"unstable_dw_ustack", nothing},
    {"unstable_macro", nothing},
    {"unstable_map_decl", nothing},
    {"unstable_import", nothing},
};

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

Result<Config> read_config(std::string_view source, const std::vector<ConfigItem>& items) {
  Config config;
  for (const ConfigItem& item : items) {
    std::string name = lower(item.name);
    if (name.starts_with("bpftrace_")) name = name.substr(sizeof "bpftrace_" - 1);
    const auto* setting = std::find_if(std::begin(kSettings), std::end(kSettings),
                                       [&](const Setting& s) { return name == s.name; });
    if (setting == std::end(kSettings))
      return script::error_at(source, item.range, fmt::format("there is no setting '{}'", item.name));
    if (const char* what = setting->set(config, item.value))
      return script::error_at(source, item.range, fmt::format("the value of '{}' is {}", item.name, what));
  }
  for (const Setting& setting : kSettings) {
    std::string name = "BPFTRACE_";
    for (const char* c = setting.name; *c != '\0'; ++c)
      name += *c >= 'a' && *c <= 'z' ? static_cast<char>(*c - 'a' + 'A') : *c;
    const char* value = std::getenv(name.c_str());
    if (!value) continue;
    if (const char* what = setting.set(config, value))
      return Error(ErrorKind::kUsage, fmt::format("the value of {} is {}", name, what));
  }
  return config;
}

}  // namespace blip::bt
