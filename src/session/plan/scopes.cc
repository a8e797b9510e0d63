// SPDX-License-Identifier: MIT
#include "session/plan/scopes.h"

#include "elf/match.h"
#include "elf/relocations.h"
#include "script/mark_scope.h"
#include "script/no_debug_scope.h"

namespace blip::session {

namespace {

// The scope of one module, with the variables of the others by their modules' names.
class ProcessScope final : public script::Scope {
 public:
  ProcessScope(std::unique_ptr<script::Scope> here, Scopes& all) : here_(std::move(here)), all_(all) {}

  std::optional<script::Variable> find(std::string_view name) override { return here_->find(name); }
  std::optional<script::Variable> find_in(std::string_view where, std::string_view name) override {
    auto found = here_->find_in(where, name);
    return found ? found : all_.find_in_module(where, name);
  }
  const script::Type* find_type(std::string_view name) override { return here_->find_type(name); }
  std::vector<script::Variable> parameters() override { return here_->parameters(); }
  std::vector<script::Variable> locals() override { return here_->locals(); }
  const script::Type* result_type() override { return here_->result_type(); }
  std::optional<script::Place> result_place() override { return here_->result_place(); }
  std::string what_is_missing() override { return here_->what_is_missing(); }
  std::vector<std::string> files_with(std::string_view name) override { return here_->files_with(name); }

 private:
  std::unique_ptr<script::Scope> here_;
  Scopes& all_;
};

}  // namespace

std::unique_ptr<script::Scope> Scopes::at(const Target& target) {
  auto place = of_code(target);
  if (!target.mark) return place;
  return std::make_unique<script::MarkScope>(std::move(place),
                                             arguments_of(*target.mark, modules_[target.module]));
}

std::unique_ptr<script::Scope> Scopes::of_code(const Target& target) {
  const probe::Module& module = modules_[target.module];
  ModuleDebug& debug = store_.of(module);
  const bool is_entry = target.point.addr == target.point.function.addr;
  if (!debug.info) {
    using At = script::NoDebugScope::At;
    return std::make_unique<ProcessScope>(
        std::make_unique<script::NoDebugScope>(target.point.function.name,
                                               is_entry ? At::kEntry : At::kElsewhere, debug.missing),
        *this);
  }
  dwarf::CodeLocation place = site(module, debug);
  place.pc = target.point.addr;
  place.is_entry = is_entry;
  auto scope = target.instance ? debug.info->scope_of(*target.instance, place) : debug.info->scope_at(place);
  return std::make_unique<ProcessScope>(std::move(scope), *this);
}

dwarf::CodeLocation Scopes::site(const probe::Module& module, ModuleDebug& debug) {
  dwarf::CodeLocation site{.load_bias = module.bias()};
  if (module.is_executable()) site.tls_offset = debug.info->executable_tls_offset();
  site.bound = [this, &module](const std::string& symbol) -> std::optional<dwarf::BoundVariable> {
    const BoundVariables& all = bound_in(module);
    const auto found = all.find(symbol);
    return found != all.end() ? std::optional(found->second) : std::nullopt;
  };
  site.callers = [this, &module](FileAddr function) { return callers_of(module, function); };
  return site;
}

const Scopes::Slots& Scopes::slots_of(const probe::Module& module) {
  const auto [known, is_new] = slots_.try_emplace(module.identity());
  Slots& slots = known->second;
  if (is_new)
    elf::for_each_function_slot(module.file(), [&](const elf::FunctionSlot& slot) {
      if (!slot.symbol.empty()) slots.emplace(std::string(slot.symbol), slot.place);
    });
  return slots;
}

// Modules that name it, by any of its names. Whether theirs became this one is seen at the hit.
std::vector<dwarf::CallingModule> Scopes::callers_of(const probe::Module& module, FileAddr function) {
  std::vector<dwarf::CallingModule> result;
  const auto symbols = module.symbols();
  if (!symbols) return result;
  for (const elf::Function& named : (*symbols)->functions()) {
    if (named.addr != function || named.is_ifunc) continue;
    for (const probe::Module& other : modules_) {
      const auto [first, last] = slots_of(other).equal_range(named.name);
      if (first == last) continue;
      ModuleDebug& debug = store_.of(other, /*may_fetch=*/false);
      for (auto slot = first; slot != last && debug.info; ++slot)
        result.push_back({&*debug.info, other.bias(), slot->second});
    }
  }
  return result;
}

const Scopes::BoundVariables& Scopes::bound_in(const probe::Module& module) {
  const auto [known, is_new] = bound_.try_emplace(module.identity());
  BoundVariables& variables = known->second;
  if (is_new)
    elf::for_each_bound_variable(module.file(), [&](const elf::BoundVariable& variable) {
      variables.try_emplace(std::string(variable.symbol),
                            dwarf::BoundVariable{variable.place, variable.is_address});
    });
  return variables;
}

std::optional<script::Variable> Scopes::find_in_module(std::string_view module, std::string_view name) {
  for (const probe::Module& other : modules_) {
    if (!elf::module_matches(module, other.basename())) continue;
    ModuleDebug& debug = store_.of(other);
    if (!debug.info) continue;
    if (auto found = debug.info->scope_at(site(other, debug))->find(name)) return found;
  }
  return std::nullopt;
}

}  // namespace blip::session
