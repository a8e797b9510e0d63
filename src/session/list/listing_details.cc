// SPDX-License-Identifier: MIT
#include "session/list/listing_details.h"

#include <algorithm>
#include <span>

#include "dwarf/lines/source_lines.h"
#include "elf/symbols.h"
#include "session/symbolize/debug_images.h"

namespace blip::session {

namespace {

void add_aliases(const probe::Module& module, std::span<ListedFunction> functions) {
  const auto symbols = module.symbols();
  if (!symbols) return;
  const auto all = (*symbols)->functions();
  for (ListedFunction& f : functions) {
    const FileAddr address = module.to_file(TargetAddr(f.address));
    auto at = std::lower_bound(all.begin(), all.end(), address,
                               [](const elf::Function& s, FileAddr a) { return s.addr < a; });
    const std::string_view own = f.mangled.empty() ? std::string_view(f.name) : f.mangled;
    for (; at != all.end() && at->addr == address; ++at)
      if (at->name != own) f.aliases.push_back(at->name);
  }
}

Result<dwarf::SourceLines> lines_of(const probe::Module& module) {
  for (std::span<const uint8_t> image : debug_images(module))
    if (auto lines = dwarf::SourceLines::open(image)) return lines;
  return Error(ErrorKind::kNotFound, "no line tables");
}

void add_lines(const probe::Module& module, std::span<ListedFunction> functions) {
  const auto lines = lines_of(module);
  if (!lines) return;
  for (ListedFunction& f : functions) {
    auto source = lines->find(module.to_file(TargetAddr(f.address)));
    if (!source) continue;
    f.source_file = std::move(source->file);
    f.source_line = source->line;
  }
}

}  // namespace

void add_details(Listing& listing) {
  for (size_t m = 0; m < listing.modules.size(); ++m) {
    const auto functions = listing.of_module(m);
    if (functions.empty()) continue;
    add_aliases(listing.modules[m], functions);
    add_lines(listing.modules[m], functions);
    const auto& notes = listing.modules[m].notes();
    listing.notes.insert(listing.notes.end(), notes.begin(), notes.end());
  }
}

}  // namespace blip::session
