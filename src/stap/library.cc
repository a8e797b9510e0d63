// SPDX-License-Identifier: MIT
#include "stap/library.h"

#include "stap/builtins.h"
#include "stap/parser.h"
#include "stap/tapset.h"

namespace blip::stap {

namespace {

Type type_of(char letter) {
  return letter == 'l' ? Type::kLong : letter == 's' ? Type::kString : Type::kUnknown;
}

void add_builtins(Module& module) {
  for (const Builtin& b : builtins()) {
    Function& f = module.builtins.emplace_back();
    f.name = b.name;
    f.type = type_of(b.result);
    f.is_typed = true;
    f.builtin = &b;
    for (const char letter : b.parameters) {
      f.parameters.push_back(std::make_unique<Variable>());
      f.parameters.back()->type = type_of(letter);
      f.parameters.back()->arity = 0;
    }
    module.functions.emplace(f.name, &f);
  }
}

// They are texts, whoever looks at them.
void type_arguments(Variable& argv) {
  argv.type = Type::kString;
  argv.arity = 1;
  argv.keys = {Type::kLong};
}

}  // namespace

Result<Macros> add_tapset(Module& module) {
  add_builtins(module);
  Macros macros;
  for (const TapsetFile& file : tapset()) {
    module.sources.push_back({std::string(file.name), std::string(file.text), true});
    const Source& source = module.sources.back();
    if (file.name.ends_with(".stpm")) {
      TRY(Macros defined, parse_macros(source, module.settings));
      macros.merge(defined);
      continue;
    }
    TRY(File parsed, parse(source, module.settings, macros));
    for (const auto& global : parsed.globals)
      if (global->name == "argv") type_arguments(*global);
    module.files.push_back(std::move(parsed));
  }
  return macros;
}

}  // namespace blip::stap
