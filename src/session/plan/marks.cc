// SPDX-License-Identifier: MIT
#include "session/plan/marks.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "elf/mark_spec.h"
#include "elf/match.h"
#include "probe/code/points.h"
#include "script/convention/mark_operands.h"

namespace blip::session {

namespace {

constexpr size_t kSuggested = 5;

std::string list_of(const std::set<std::string>& names) {
  std::vector<std::string> some(
      names.begin(), std::next(names.begin(), static_cast<ptrdiff_t>(std::min(names.size(), kSuggested))));
  if (names.size() > kSuggested) some.push_back(fmt::format("{} more", names.size() - kSuggested));
  return fmt::format("{}", fmt::join(some, ", "));
}

// The nearest names; else all providers.
std::string hint(const elf::Spec& spec, const std::set<std::string>& names,
                 const std::set<std::string>& providers) {
  std::vector<elf::Function> candidates;  // suggest() is for names of functions; these are names too
  for (const std::string& name : names) candidates.push_back({.name = name});
  const std::string_view wanted =
      spec.name.starts_with("*:") ? std::string_view(spec.name).substr(2) : spec.name;
  if (const auto nearest = elf::suggest(wanted, candidates); !nearest.empty())
    return fmt::format("; nearest: {}", fmt::join(nearest, ", "));
  return fmt::format("; there are marks of {}", list_of(providers));
}

}  // namespace

const std::vector<elf::Mark>& MarkFinder::marks_of(size_t module) {
  const auto [known, is_new] = marks_.try_emplace(module);
  if (is_new) known->second = elf::read_marks(modules_[module].file());
  return known->second;
}

Result<FoundMarks> MarkFinder::find(const elf::Spec& spec) {
  FoundMarks result;
  for (size_t m = 0; m < modules_.size(); ++m) {
    if (!elf::names_module(spec, modules_[m].path())) continue;
    for (const elf::Mark& mark : marks_of(m)) {
      if (!elf::matches(spec, mark)) continue;
      FoundMark found{.module = m, .point = {}, .mark = std::make_shared<const elf::Mark>(mark)};
      auto point = probe::point_at(modules_[m], mark.place, &starts_);
      if (point) {
        found.point = *std::move(point);
        result.found.push_back(std::move(found));
      } else {
        result.refused.push_back({found.name(), fmt::format("at {}+{:#x}: {}", modules_[m].basename(),
                                                            mark.place.value, point.error().message())});
      }
    }
  }
  if (!result.found.empty()) return result;
  if (result.refused.empty()) return nothing_matches(spec);
  const Refusal& first = result.refused.front();
  return Error(ErrorKind::kNotFound, fmt::format("{}: {}", first.probe, first.reason));
}

Error MarkFinder::nothing_matches(const elf::Spec& spec) {
  std::set<std::string> names, providers;
  size_t modules = 0;
  for (size_t m = 0; m < modules_.size(); ++m) {
    if (!elf::names_module(spec, modules_[m].path())) continue;
    ++modules;
    for (const elf::Mark& mark : marks_of(m)) {
      names.insert(mark.provider + ':' + mark.name);
      providers.insert(mark.provider);
    }
  }
  std::string what;
  if (modules == 0) {
    what = fmt::format("no module matches '{}'", *spec.module);
  } else if (names.empty()) {
    what =
        fmt::format("{} static marks (.note.stapsdt)", modules == 1 ? "the module has no" : "no module has");
  } else {
    what = "no mark matches" + hint(spec, names, providers);
  }
  return Error(ErrorKind::kNotFound, fmt::format("{}: {}", spec.text, what));
}

std::vector<script::Variable> arguments_of(const elf::Mark& mark, const probe::Module& module) {
  script::MarkSymbols symbols;
  const auto value = [&module](std::string_view name) -> std::optional<uint64_t> {
    const auto table = module.symbols();
    return table ? (*table)->object(name) : std::nullopt;
  };
  symbols.address = [&](std::string_view name) -> std::optional<uint64_t> {
    const auto found = value(name);
    return found ? std::optional(module.to_target(FileAddr(*found)).value) : std::nullopt;
  };
  symbols.thread_offset = [&](std::string_view name) -> std::optional<uint64_t> {
    const auto size = elf::thread_block_size(module.file());
    const auto found = value(name);
    if (!module.is_executable() || !size || !found) return std::nullopt;
    return *found - *size;
  };
  return script::mark_arguments(mark.operands, symbols);
}

std::vector<std::string> operands_of(const elf::Mark& mark) {
  return script::mark_operand_texts(mark.operands);
}

}  // namespace blip::session
