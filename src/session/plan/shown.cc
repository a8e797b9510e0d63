// SPDX-License-Identifier: MIT
#include "session/plan/shown.h"

#include <algorithm>
#include <array>

#include "session/plan/contexts.h"
#include "session/plan/requests.h"

namespace blip::session {

namespace {

constexpr uint16_t kArguments =
    1 << 1 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 9;  // rcx, rdx, rsi, rdi, r8, r9

bool is_argument(const std::string& name) {
  constexpr std::array kNames = {"rcx", "rdx", "rsi", "rdi", "r8", "r9"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

bool names_register(const DataRequest& data) {
  const auto names = [](const std::string& text) { return text.find('$') != std::string::npos; };
  return names(data.condition) || std::any_of(data.captures.begin(), data.captures.end(), names);
}

void add_context(x86::Shown& shown, const Context& context) {
  if (context.row->kind == ContextKind::kMemory) shown.memory = true;
  if (context.row->kind == ContextKind::kAllRegisters) shown.registers = x86::Shown::kAllRegisters;
  if (context.row->kind == ContextKind::kRegister)
    shown.registers |= is_argument(context.register_name) ? kArguments : x86::Shown::kAllRegisters;
}

}  // namespace

// Contexts of a return are those of its exits.
x86::Shown shown_at_entry(const ProbeRequest& request) {
  x86::Shown shown = x86::Shown::nothing();
  const bool is_return = request.kind == ProbeKind::kReturn;
  if (!is_return)
    for (const Context& context : request.contexts) add_context(shown, context);
  if (is_return ? !asks_for_entry(request) : !asks_for_data(request)) return shown;
  shown.vectors = shown.memory = true;
  shown.registers |= names_register(request.data) ? x86::Shown::kAllRegisters : kArguments;
  return shown;
}

}  // namespace blip::session
