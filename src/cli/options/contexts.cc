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

struct Named {
  std::string_view name;
  ContextKind kind;
};
constexpr Named kContexts[] = {
    {"regs", ContextKind::kAllRegisters}, {"ip", ContextKind::kIp},
    {"pid", ContextKind::kPid},           {"vpid", ContextKind::kPid},
    {"tid", ContextKind::kTid},           {"vtid", ContextKind::kTid},
    {"comm", ContextKind::kComm},         {"procname", ContextKind::kComm},
    {"cpu", ContextKind::kCpu},           {"backtrace", ContextKind::kBacktrace},
};

constexpr std::string_view kRegisters[] = {"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8",
                                           "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip", "rflags"};

constexpr std::string_view kRegisterPrefix = "reg:";
constexpr std::string_view kValid =
    "regs, reg:NAME, ip, pid (vpid), tid (vtid), comm (procname), cpu, backtrace, TYPE:NAME:ADDR";

Result<Context> parse_register(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (std::find(std::begin(kRegisters), std::end(kRegisters), lower) == std::end(kRegisters))
    return usage(fmt::format("unknown register '{}': use one of {}", name, fmt::join(kRegisters, " ")));
  return Context{.kind = ContextKind::kRegister, .register_name = std::move(lower)};
}

Result<Context> parse_context(std::string_view text) {
  if (text.starts_with(kRegisterPrefix)) return parse_register(text.substr(kRegisterPrefix.size()));
  for (const Named& named : kContexts)
    if (named.name == text) return Context{named.kind};
  if (text.find(':') != std::string_view::npos) {
    TRY(session::MemoryContext memory, parse_memory_context(text));
    return Context{.kind = ContextKind::kMemory, .memory = std::move(memory)};
  }
  return usage(fmt::format("unknown context '{}': use {}", text, kValid));
}

bool equal(const Context& a, const Context& b) {
  return a.kind == b.kind && a.register_name == b.register_name && a.memory == b.memory;
}

}  // namespace

Result<std::vector<Context>> parse_contexts(std::string_view text) {
  std::vector<Context> contexts;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    TRY(Context context, parse_context(text.substr(start, end - start)));
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
      all_registers |= context.kind == ContextKind::kAllRegisters;
      const auto same = [&](const Context& other) { return equal(other, context); };
      if (std::none_of(all.begin(), all.end(), same)) all.push_back(context);
    }
  }
  if (all_registers) std::erase_if(all, [](const Context& c) { return c.kind == ContextKind::kRegister; });
  return all;
}

std::vector<std::string_view> plain_contexts() {
  std::vector<std::string_view> names;
  for (const Named& named : kContexts) names.push_back(named.name);
  return names;
}

std::vector<std::string_view> register_names() { return {std::begin(kRegisters), std::end(kRegisters)}; }

}  // namespace blip::cli
