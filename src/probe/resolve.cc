// SPDX-License-Identifier: MIT
#include "probe/resolve.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <set>
#include <unordered_map>

#include "elf/demangle.h"
#include "elf/landing_pads.h"
#include "elf/match.h"

namespace blip::probe {

namespace {

std::string event_name(const elf::Function& function) {
  return elf::without_parameters(elf::demangle(function.name));
}

// A better name for the same address: the one the user spelled, else the public one (printf, not _IO_printf).
bool better_name(const elf::Spec& spec, const elf::Function& a, const elf::Function& b) {
  const bool a_spelled = a.name == spec.name, b_spelled = b.name == spec.name;
  if (a_spelled != b_spelled) return a_spelled;
  const bool a_internal = a.name.starts_with('_'), b_internal = b.name.starts_with('_');
  if (a_internal != b_internal) return b_internal;
  return a.name.size() < b.name.size();
}

class Resolver {
 public:
  Resolver(std::span<const elf::Spec> specs, std::span<const Module> modules)
      : specs_(specs), modules_(modules) {}

  Result<std::vector<FunctionTarget>> run() {
    for (size_t i = 0; i < specs_.size(); ++i) TRY_OK(resolve(i));
    return std::move(found_);
  }

 private:
  Status resolve(size_t request) {
    const elf::Spec& spec = specs_[request];
    if (spec.kind == elf::SpecKind::kAddress) return resolve_address(request);
    const elf::FunctionMatcher matcher(spec);
    bool matched = false;
    bool module_found = false;
    for (size_t m = 0; m < modules_.size(); ++m) {
      if (spec.module && !elf::module_matches(*spec.module, modules_[m].basename())) continue;
      module_found = true;
      TRY(const bool here, match_module(request, m, matcher));
      matched |= here;
      // Without a module: the executable, and the libraries only for a plain name it does not have.
      if (!spec.module && modules_[m].is_executable() && (matched || spec.kind == elf::SpecKind::kGlob))
        break;
    }
    if (!module_found)
      return Error(ErrorKind::kNotFound, fmt::format("{}: no module '{}' is loaded; there are {}", spec.text,
                                                     *spec.module, module_list()));
    if (!matched) return no_match(spec);
    return {};
  }

  // A function that begins at a run-time address: known by its symbol, or by its unwind information in a
  // stripped file.
  Status resolve_address(size_t request) {
    const TargetAddr addr(specs_[request].offset);
    for (size_t m = 0; m < modules_.size(); ++m) {
      if (!modules_[m].extent().contains(addr)) continue;
      TRY(const std::optional<elf::Function> function, function_at(modules_[m], modules_[m].to_file(addr)));
      if (!function) break;
      if (!by_address_.try_emplace(addr, found_.size()).second) return {};
      const std::string name =
          function->name.empty() ? fmt::format("{:#x}", addr.value) : event_name(*function);
      found_.push_back({.module = m, .request = request, .function = *function, .name = name});
      return {};
    }
    return Error(ErrorKind::kNotFound, fmt::format("no function begins at {:#x}", addr.value));
  }

  static Result<std::optional<elf::Function>> function_at(const Module& module, FileAddr addr) {
    TRY(const elf::SymbolTable* symbols, module.symbols());
    for (const elf::Function& f : symbols->functions())
      if (f.addr == addr) return std::optional(f);
    for (const FileRange& r : elf::frame_ranges(module.file()))
      if (r.begin == addr) return std::optional(elf::Function{.addr = addr, .size = r.size()});
    return std::optional<elf::Function>();
  }

  Result<bool> match_module(size_t request, size_t m, const elf::FunctionMatcher& matcher) {
    TRY(const elf::SymbolTable* symbols, modules_[m].symbols());
    bool matched = false;
    for (const elf::Function& f : symbols->functions()) {
      if (!matcher.matches(f)) continue;
      matched = true;
      const TargetAddr addr = modules_[m].to_target(f.addr);
      auto [at, is_new] = by_address_.try_emplace(addr, found_.size());
      if (is_new) {
        found_.push_back({.module = m, .request = request, .function = f, .name = event_name(f)});
      } else if (FunctionTarget& known = found_[at->second];
                 known.request == request && better_name(specs_[request], f, known.function)) {
        known.function = f;
        known.name = event_name(f);
      }
    }
    return matched;
  }

  std::string module_list() const {
    std::set<std::string> names;
    for (const Module& m : modules_) names.insert(m.basename());
    return fmt::format("{}", fmt::join(names, ", "));
  }

  Error no_match(const elf::Spec& spec) const {
    std::vector<elf::Function> candidates;
    for (const Module& m : modules_) {
      if (spec.module && !elf::module_matches(*spec.module, m.basename())) continue;
      auto symbols = m.symbols();
      if (!symbols) continue;
      const auto functions = (*symbols)->functions();
      candidates.insert(candidates.end(), functions.begin(), functions.end());
    }
    const auto nearest = elf::suggest(spec.name, candidates);
    std::string hint;
    if (!nearest.empty()) {
      hint = fmt::format("; nearest: {}", fmt::join(nearest, ", "));
    } else if (candidates.empty()) {
      hint = "; it has no symbols (stripped)";
    } else {
      hint = "; blip list shows what can be probed";
    }
    if (spec.kind == elf::SpecKind::kGlob && !spec.module)
      hint += fmt::format("; a pattern looks at the executable only, '*:{}' at libraries too", spec.name);
    return Error(ErrorKind::kNotFound, fmt::format("no function matches '{}'{}", spec.text, hint));
  }

  std::span<const elf::Spec> specs_;
  std::span<const Module> modules_;
  std::vector<FunctionTarget> found_;
  std::unordered_map<TargetAddr, size_t> by_address_;
};

}  // namespace

Result<std::vector<FunctionTarget>> resolve_functions(std::span<const elf::Spec> specs,
                                                      std::span<const Module> modules) {
  return Resolver(specs, modules).run();
}

}  // namespace blip::probe
