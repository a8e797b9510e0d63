// SPDX-License-Identifier: MIT
#include "machine/registers.h"

#include <algorithm>
#include <charconv>

namespace blip::machine {

std::optional<RegisterPart> find_register(const RegisterSet& set, std::string_view name) {
  if (const auto found = std::ranges::find(set.general, name); found != set.general.end())
    return RegisterPart{.number = static_cast<uint64_t>(found - set.general.begin())};
  const auto found = std::ranges::find(set.parts, name, &PartName::name);
  return found == set.parts.end() ? std::nullopt : std::optional(found->part);
}

std::optional<uint64_t> find_vector_register(const RegisterSet& set, std::string_view name) {
  if (!name.starts_with(set.vector_prefix)) return std::nullopt;
  name.remove_prefix(set.vector_prefix.size());
  uint64_t number = 0;
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_all = failed == std::errc() && end == name.data() + name.size();
  return is_all && number < set.vector_count ? std::optional(number) : std::nullopt;
}

std::optional<uint64_t> find_dwarf_register(const RegisterSet& set, uint64_t number) {
  return number < set.by_dwarf.size() ? std::optional<uint64_t>(set.by_dwarf[number]) : std::nullopt;
}

}  // namespace blip::machine
