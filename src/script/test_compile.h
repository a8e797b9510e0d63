// SPDX-License-Identifier: MIT
// For tests: a program of one thing alone.
#pragma once

#include <span>
#include <string_view>

#include "script/compile.h"

namespace blip::script {

inline Result<Captured> compile_filter(std::string_view text, const HitScopes& site) {
  Compiler compiler(site, {});
  TRY_OK(compiler.add_filter(text));
  return compiler.finish();
}

inline Result<Captured> compile_capture(std::string_view list, const HitScopes& site, const Limits& limits) {
  Compiler compiler(site, limits);
  TRY_OK(compiler.add_capture(list));
  return compiler.finish();
}

inline Result<Captured> compile_variables(std::span<const Variable> variables, const HitScopes& site,
                                          const Limits& limits) {
  Compiler compiler(site, limits);
  compiler.add_variables(variables);
  return compiler.finish();
}

}  // namespace blip::script
