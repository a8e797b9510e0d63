// SPDX-License-Identifier: MIT
#include "cli/options/contexts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cli/options/memory_context.h"
#include "cli/options/usage_error.h"

namespace blip::cli {
namespace {

using session::Context;
using session::ContextKind;
using session::ContextRow;

constexpr std::string_view kRegisters[] = {"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8",
                                           "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip", "rflags"};

constexpr std::string_view kRegisterPrefix = "reg:";

Result<Context> parse_register(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (std::find(std::begin(kRegisters), std::end(kRegisters), lower) == std::end(kRegisters))
    return usage(fmt::format("unknown register '{}': use one of {}", name, fmt::join(kRegisters, " ")));
  return Context{.row = &session::contexts::kRegister, .register_name = std::move(lower)};
}

std::string valid_words(session::ContextRows rows) {
  std::vector<std::string> all;
  for (const ContextRow* row : rows) {
    const auto& [word, other] = row->words;
    all.push_back(other.empty() ? std::string(word) : fmt::format("{} ({})", word, other));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

const ContextRow* find_row(session::ContextRows rows, std::string_view word) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const ContextRow* row) {
    return !row->is_pattern() && !word.empty() && (row->words[0] == word || row->words[1] == word);
  });
  return found == rows.end() ? nullptr : *found;
}

Result<Context> parse_context(std::string_view text, session::ContextRows rows) {
  if (text.starts_with(kRegisterPrefix)) return parse_register(text.substr(kRegisterPrefix.size()));
  if (const ContextRow* row = find_row(rows, text)) return Context{row};
  if (text.find(':') != std::string_view::npos) {
    TRY(session::MemoryContext memory, parse_memory_context(text));
    return Context{.row = &session::contexts::kMemory, .memory = std::move(memory)};
  }
  return usage(fmt::format("unknown context '{}': use {}", text, valid_words(rows)));
}

}  // namespace

Result<std::vector<Context>> parse_contexts(std::string_view text, session::ContextRows rows) {
  std::vector<Context> contexts;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    TRY(Context context, parse_context(text.substr(start, end - start), rows));
    contexts.push_back(std::move(context));
    start = end + 1;
  }
  return contexts;
}

std::vector<Context> merge_contexts(const std::vector<Context>& first, const std::vector<Context>& second) {
  std::vector<Context> all;
  bool all_registers = false;
  for (const auto* list : {&first, &second}) {
    for (const Context& context : *list) {
      all_registers |= context.row->kind == ContextKind::kAllRegisters;
      if (std::find(all.begin(), all.end(), context) == all.end()) all.push_back(context);
    }
  }
  if (all_registers)
    std::erase_if(all, [](const Context& c) { return c.row->kind == ContextKind::kRegister; });
  return all;
}

std::vector<std::string_view> plain_contexts() {
  std::vector<std::string_view> names;
  for (const ContextRow* row : session::known_contexts())
    for (std::string_view word : row->words)
      if (!row->is_pattern() && !word.empty()) names.push_back(word);
  return names;
}

std::vector<std::string_view> register_names() { return {std::begin(kRegisters), std::end(kRegisters)}; }

}  // namespace blip::cli
