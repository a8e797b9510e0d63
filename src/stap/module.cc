// SPDX-License-Identifier: MIT
#include "stap/module.h"

#include <fmt/core.h>

#include "stap/library.h"
#include "stap/parser.h"

namespace blip::stap {

namespace {

// Two functions of one name must differ in their parameters or priorities.
Status add_functions(Module& module) {
  for (File& file : module.files)
    for (const auto& f : file.functions) {
      const auto [begin, end] = module.functions.equal_range(f->name);
      for (auto i = begin; i != end; ++i) {
        const Function& other = *i->second;
        if (f->spot.source->is_tapset || other.spot.source != f->spot.source ||
            other.parameters.size() != f->parameters.size())
          continue;
        if (f->priority == other.priority)
          return error_at(f->spot, fmt::format("the function {}() is there already, at {}", f->name,
                                               describe(other.spot)));
      }
      module.functions.emplace(f->name, f.get());
    }
  return {};
}

}  // namespace

Result<std::unique_ptr<Module>> build_module(Source source, Settings settings) {
  auto module = std::make_unique<Module>();
  module->settings = std::move(settings);
  module->sources.push_back(std::move(source));
  module->files.emplace_back();
  TRY(const Macros macros, add_tapset(*module));
  TRY(module->files[0], parse(module->sources[0], module->settings, macros));
  TRY_OK(add_functions(*module));
  TRY_OK(expand_aliases(*module));
  if (module->handlers.empty()) return Error(ErrorKind::kUsage, "the script has no probe");
  TRY_OK(resolve_names(*module));
  TRY_OK(check_loops(*module));
  TRY_OK(infer_types(*module));
  find_uses(*module);
  return module;
}

}  // namespace blip::stap
