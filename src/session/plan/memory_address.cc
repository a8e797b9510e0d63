// SPDX-License-Identifier: MIT
#include "session/plan/memory_address.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>

#include "elf/match.h"
#include "elf/spec.h"

namespace blip::session {

namespace {

Result<uint64_t> parse_address(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const int base = hex ? 16 : text.size() > 1 && text[0] == '0' ? 8 : 10;
  const char* begin = text.data() + (hex ? 2 : 0);
  const char* end = text.data() + text.size();
  uint64_t value = 0;
  const auto [last, error] = std::from_chars(begin, end, value, base);
  if (error != std::errc() || last != end || begin == end)
    return Error(ErrorKind::kUsage, fmt::format("'{}' is no address: a number, or SYMBOL+OFFSET", text));
  return value;
}

std::optional<uint64_t> find_symbol(const probe::Module& module, std::string_view name) {
  const auto symbols = module.symbols();
  if (!symbols) return {};
  if (const auto value = (*symbols)->object(name)) return module.to_target(FileAddr(*value)).value;
  for (const elf::Function& f : (*symbols)->functions())
    if (f.name == name) return module.to_target(f.addr).value;
  return {};
}

}  // namespace

Result<uint64_t> memory_address(std::string_view text, std::span<const probe::Module> modules, size_t home) {
  if (!text.empty() && std::isdigit(static_cast<unsigned char>(text[0]))) return parse_address(text);
  TRY(const elf::Spec spec, elf::parse_spec(text));
  if (spec.kind == elf::SpecKind::kAddress) return spec.offset;
  if (spec.kind == elf::SpecKind::kGlob)
    return Error(ErrorKind::kUsage, fmt::format("'{}': an address is one symbol, not a pattern", text));
  const auto is_meant = [&](const probe::Module& m) {
    return !spec.module || elf::module_matches(*spec.module, m.basename());
  };
  if (home < modules.size() && is_meant(modules[home]))
    if (const auto found = find_symbol(modules[home], spec.name)) return *found + spec.offset;
  for (const probe::Module& module : modules)
    if (is_meant(module))
      if (const auto found = find_symbol(module, spec.name)) return *found + spec.offset;
  return Error(ErrorKind::kNotFound,
               fmt::format("no variable or function is named {}{}", spec.name,
                           spec.module ? fmt::format(" in {}", *spec.module) : std::string()));
}

}  // namespace blip::session
