// SPDX-License-Identifier: MIT
#include "session/all_functions.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "elf/demangle.h"
#include "elf/landing_pads.h"

namespace blip::session {

namespace {

// The public name before the internal one, the shorter before the longer.
auto name_rank(const elf::Function& f) { return std::tuple(f.name.starts_with('_'), f.name.size(), f.name); }

// A table the linker made, which unwind tables describe as one piece of code.
bool is_plt(const elf::ElfFile& file, FileAddr address) {
  const elf::Section* section = file.section_at(address);
  return section && section->name.starts_with(".plt");
}

}  // namespace

Result<std::vector<elf::Function>> all_functions(const probe::Module& module) {
  TRY(const elf::SymbolTable* symbols, module.symbols());
  std::vector<elf::Function> all;
  for (const elf::Function& f : symbols->functions()) {
    if (all.empty() || all.back().addr != f.addr)
      all.push_back(f);
    else if (name_rank(f) < name_rank(all.back()))
      all.back() = f;
  }
  const auto named = static_cast<ptrdiff_t>(all.size());
  for (const FileRange& range : elf::frame_ranges(module.file())) {
    const bool seen = static_cast<ptrdiff_t>(all.size()) > named && all.back().addr == range.begin;
    if (!seen && !symbols->function_at(range.begin) && !is_plt(module.file(), range.begin))
      all.push_back({.addr = range.begin, .size = range.size()});
  }
  std::inplace_merge(all.begin(), all.begin() + named, all.end(),
                     [](const elf::Function& a, const elf::Function& b) { return a.addr < b.addr; });
  return all;
}

std::string display_name(const probe::Module& module, const elf::Function& function) {
  if (function.name.empty()) return fmt::format("{}+{:#x}", module.basename(), function.addr.value);
  return elf::without_parameters(elf::demangle(function.name));
}

}  // namespace blip::session
