// SPDX-License-Identifier: MIT
#include "probe/code/functions.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "elf/demangle.h"

namespace blip::probe {

namespace {

bool before(const elf::Function& f, FileAddr address) { return f.addr < address; }

std::vector<elf::Function> one_per_address(std::span<const elf::Function> functions) {
  std::vector<elf::Function> result;
  result.reserve(functions.size());
  for (const elf::Function& f : functions) {
    if (result.empty() || result.back().addr != f.addr)
      result.push_back(f);
    else if (preferred_name(f.name, result.back().name))
      result.back() = f;
  }
  return result;
}

// A table the linker made, which unwind tables describe as one piece of code.
bool is_plt(const elf::ElfFile& file, FileAddr address) {
  const elf::Section* section = file.section_at(address);
  return section && section->name.starts_with(".plt");
}

elf::Function nameless(const FileRange& range) {
  return {.addr = range.begin, .size = range.size(), .is_nameless = true};
}

}  // namespace

bool preferred_name(std::string_view a, std::string_view b, std::string_view written) {
  const auto rank = [&](std::string_view name) {
    return std::tuple(name != written, name.starts_with('_'), name.size(), name);
  };
  return rank(a) < rank(b);
}

// An FDE inside of a known function is a part of it.
Result<std::vector<elf::Function>> all_functions(const Module& module) {
  TRY(const elf::SymbolTable* symbols, module.symbols());
  std::vector<elf::Function> all = one_per_address(symbols->functions());
  const size_t named = all.size();
  FileAddr last(UINT64_MAX);
  for (const FileRange& range : module.frames()) {
    if (range.begin == last || symbols->function_at(range.begin) || is_plt(module.file(), range.begin))
      continue;
    last = range.begin;
    all.push_back(nameless(range));
  }
  std::inplace_merge(all.begin(), all.begin() + static_cast<ptrdiff_t>(named), all.end(),
                     [](const elf::Function& a, const elf::Function& b) { return a.addr < b.addr; });
  return all;
}

Result<std::optional<elf::Function>> function_starting_at(const Module& module, FileAddr address) {
  TRY(const elf::SymbolTable* symbols, module.symbols());
  const auto functions = symbols->functions();
  std::optional<elf::Function> best;
  for (auto f = std::lower_bound(functions.begin(), functions.end(), address, before);
       f != functions.end() && f->addr == address; ++f)
    if (!f->is_ifunc && (!best || preferred_name(f->name, best->name))) best = *f;
  if (best) return best;
  const auto frames = module.frames();
  const auto frame = std::lower_bound(frames.begin(), frames.end(), address,
                                      [](const FileRange& r, FileAddr a) { return r.begin < a; });
  if (frame != frames.end() && frame->begin == address) best = nameless(*frame);
  return best;
}

// The code of an IFUNC's symbol is that of its resolver, a function like others.
Result<std::optional<elf::Function>> function_around(const Module& module, FileAddr address) {
  TRY(const elf::SymbolTable* symbols, module.symbols());
  if (const elf::Function* holder = symbols->function_at(address)) {
    elf::Function best = *holder;
    const auto all = symbols->functions();
    for (auto f = std::lower_bound(all.begin(), all.end(), holder->addr, before);
         f != all.end() && f->addr == holder->addr; ++f)
      if (f->range().contains(address) && preferred_name(f->name, best.name)) best = *f;
    best.is_ifunc = false;
    return best;
  }
  const auto frames = module.frames();
  const auto after = std::upper_bound(frames.begin(), frames.end(), address,
                                      [](FileAddr a, const FileRange& r) { return a < r.begin; });
  if (after == frames.begin() || !std::prev(after)->contains(address)) return std::nullopt;
  return nameless(*std::prev(after));
}

std::string display_name(const Module& module, const elf::Function& function) {
  if (function.is_nameless) return fmt::format("{}+{:#x}", module.basename(), function.addr.value);
  return elf::without_parameters(elf::demangle(function.name));
}

std::string overload_name(const Module& module, const elf::Function& function) {
  return function.is_nameless ? display_name(module, function)
                              : elf::with_parameters(elf::demangle(function.name));
}

std::string place_name(const Module& module, const elf::Function& function, FileAddr address) {
  if (function.is_nameless) return fmt::format("{}+{:#x}", module.basename(), address.value);
  return fmt::format("{}+{:#x}", display_name(module, function), address - function.addr);
}

}  // namespace blip::probe
