// SPDX-License-Identifier: MIT
#include "probe/code/resolve.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/path.h"
#include "elf/function_index.h"
#include "elf/match.h"
#include "probe/code/functions.h"
#include "probe/code/ifunc.h"

namespace blip::probe {

namespace {

constexpr ptrdiff_t kManyNames = 16;

class Resolver {
 public:
  Resolver(std::span<const elf::Spec> specs, std::span<const Module> modules, const ResolveContext& context)
      : specs_(specs),
        modules_(modules),
        context_(context),
        by_name_(context.names || std::count_if(specs.begin(), specs.end(), [](const elf::Spec& spec) {
                                    return spec.kind == elf::SpecKind::kName;
                                  }) >= kManyNames) {
    if (by_name_ && !context.names)
      for (const elf::Spec& spec : specs) own_names_.want(spec);
  }

  Result<std::vector<FunctionTarget>> run() {
    for (size_t i = 0; i < specs_.size(); ++i) TRY_OK(resolve(i));
    return std::move(found_);
  }

 private:
  Status resolve(size_t request) {
    const elf::Spec& spec = specs_[request];
    by_address_.clear();
    if (spec.kind == elf::SpecKind::kAddress) return resolve_address(request);
    if (spec.module && std::none_of(modules_.begin(), modules_.end(), [&](const Module& m) {
          return elf::module_matches(*spec.module, m.basename());
        }))
      return no_module(spec);
    const elf::Clones clones = context_.clones ? elf::Clones::kAlso : elf::Clones::kNone;
    TRY(bool matched, match_modules(request, elf::FunctionMatcher(spec, elf::Scopes::kAsWritten, clones)));
    if (!matched && context_.any_scope && spec.kind == elf::SpecKind::kName) {
      TRY(matched, match_modules(request, elf::FunctionMatcher(spec, elf::Scopes::kAny, clones)));
    }
    TRY_OK(resolve_ifuncs(request));
    if (!matched) return no_match(spec);
    return {};
  }

  // Without a module: the executable, and the libraries only if nothing in it matches.
  Result<bool> match_modules(size_t request, const elf::FunctionMatcher& matcher) {
    const elf::Spec& spec = specs_[request];
    bool matched = false;
    for (size_t m = 0; m < modules_.size(); ++m) {
      if (spec.module && !elf::module_matches(*spec.module, modules_[m].basename())) continue;
      TRY(const bool here, match_module(request, m, matcher));
      matched |= here;
      if (!spec.module && modules_[m].is_executable() && matched) break;
    }
    return matched;
  }

  // A function that begins at a run-time address: known by its symbol, or by its unwind information in a
  // stripped file.
  Status resolve_address(size_t request) {
    const TargetAddr addr(specs_[request].offset);
    for (size_t m = 0; m < modules_.size(); ++m) {
      if (!modules_[m].extent().contains(addr)) continue;
      TRY(const auto function, function_starting_at(modules_[m], modules_[m].to_file(addr)));
      if (!function) break;
      const std::string name =
          function->is_nameless ? fmt::format("{:#x}", addr.value) : display_name(modules_[m], *function);
      add(request, m, *function, name);
      return {};
    }
    return Error(ErrorKind::kNotFound, fmt::format("no function begins at {:#x}", addr.value));
  }

  Result<bool> match_module(size_t request, size_t m, const elf::FunctionMatcher& matcher) {
    TRY(const elf::SymbolTable* symbols, modules_[m].symbols());
    if (by_name_ && specs_[request].kind != elf::SpecKind::kGlob) {
      const auto found = (context_.names ? *context_.names : own_names_).of(*symbols).matching(matcher);
      for (const elf::Function* f : found) take(request, m, *f);
      return !found.empty();
    }
    bool matched = false;
    for (const elf::Function& f : symbols->functions()) {
      if (!matcher.matches(f)) continue;
      matched = true;
      take(request, m, f);
    }
    if (elf::is_everything(specs_[request])) {
      TRY(const bool more, take_nameless(request, m));
      matched |= more;
    }
    return matched;
  }

  // Takes the functions that only unwind tables know: most functions of a stripped file.
  Result<bool> take_nameless(size_t request, size_t m) {
    TRY(const std::vector<elf::Function> all, all_functions(modules_[m]));
    bool any = false;
    for (const elf::Function& f : all) {
      if (!f.is_nameless) continue;
      any = true;
      take(request, m, f);
    }
    return any;
  }

  void take(size_t request, size_t m, const elf::Function& f) {
    if (f.is_ifunc && context_.memory)
      ifuncs_.push_back({.module = m, .function = f});
    else
      add(request, m, f, display_name(modules_[m], f));
  }

  // Those match_module() has put aside, under their own names.
  Status resolve_ifuncs(size_t request) {
    if (ifuncs_.empty()) return {};
    const auto implementations = find_implementations(ifuncs_, modules_, *context_.memory);
    for (size_t i = 0; i < ifuncs_.size(); ++i) {
      const auto& [m, ifunc] = ifuncs_[i];
      const std::string name = display_name(modules_[m], ifunc);
      bool known = false;
      for (FileAddr address : implementations[i]) {
        TRY(auto chosen, function_starting_at(modules_[m], address));
        if (!chosen) continue;
        known = true;
        chosen->name = ifunc.name;
        chosen->is_nameless = false;  // it is called, so it is no part of another
        add(request, m, *chosen, name);
      }
      if (!known) add(request, m, ifunc, name);
    }
    ifuncs_.clear();
    return {};
  }

  void add(size_t request, size_t module, const elf::Function& function, const std::string& name) {
    const auto [at, is_new] =
        by_address_.try_emplace(modules_[module].to_target(function.addr), found_.size());
    if (is_new) {
      found_.push_back({.module = module, .request = request, .function = function, .name = name});
      return;
    }
    FunctionTarget& known = found_[at->second];
    const std::string& written = specs_[request].name;  // mangled or not
    if (known.function.name == written) return;
    if (function.name != written && !preferred_name(name, known.name, written)) return;
    known.function = function;
    known.name = name;
  }

  Error no_module(const elf::Spec& spec) const {
    for (const UnreadableModule& m : context_.unreadable)
      if (elf::module_matches(*spec.module, basename_of(m.path)))
        return Error(ErrorKind::kNotFound, fmt::format("{}: {}", spec.text, m.text()));
    return Error(ErrorKind::kNotFound, fmt::format("{}: no module '{}' is loaded; there are {}", spec.text,
                                                   *spec.module, module_list()));
  }

  std::string module_list() const {
    std::set<std::string> names;
    for (const Module& m : modules_) names.insert(m.basename());
    return fmt::format("{}", fmt::join(names, ", "));
  }

  Error no_match(const elf::Spec& spec) const {
    if (!context_.hints) return Error(ErrorKind::kNotFound, spec.text);
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
    for (const UnreadableModule& m : context_.unreadable) hint += "; not looked at: " + m.text();
    return Error(ErrorKind::kNotFound, fmt::format("no function matches '{}'{}", spec.text, hint));
  }

  std::span<const elf::Spec> specs_;
  std::span<const Module> modules_;
  const ResolveContext& context_;
  const bool by_name_;  // so many that an index pays
  NameIndexes own_names_;
  std::vector<Ifunc> ifuncs_;
  std::vector<FunctionTarget> found_;
  std::unordered_map<TargetAddr, size_t> by_address_;  // what this request has found
};

}  // namespace

void NameIndexes::want(const elf::Spec& spec) {
  if (spec.kind == elf::SpecKind::kName || spec.kind == elf::SpecKind::kSymbolOffset)
    names_.push_back(spec.name);
}

elf::FunctionIndex& NameIndexes::of(const elf::SymbolTable& symbols) {
  return indexes_.try_emplace(&symbols, symbols.functions(), names_).first->second;
}

Result<std::vector<FunctionTarget>> resolve_functions(std::span<const elf::Spec> specs,
                                                      std::span<const Module> modules,
                                                      const ResolveContext& context) {
  return Resolver(specs, modules, context).run();
}

}  // namespace blip::probe
