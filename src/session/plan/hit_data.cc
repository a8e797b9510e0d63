// SPDX-License-Identifier: MIT
#include "session/plan/hit_data.h"

#include <fmt/core.h>

#include <algorithm>

#include "ctf/captured.h"
#include "jit/program/hit_needs.h"
#include "script/compile.h"
#include "script/no_debug_scope.h"
#include "script/types/diagnostics.h"
#include "session/plan/contexts.h"
#include "session/plan/environment.h"
#include "session/plan/handler_source.h"
#include "session/plan/lazy_scope.h"
#include "session/plan/memory_address.h"
#include "session/plan/requests.h"

namespace blip::session {

namespace {

using ctf::Field;
using ctf::FieldGroup;
using ctf::FieldType;
using script::Op;
using script::Output;

FieldType type_of(MemoryContext::Kind kind) {
  switch (kind) {
    case MemoryContext::Kind::kInt:
      return FieldType::kInt;
    case MemoryContext::Kind::kFloat:
      return FieldType::kFloat;
    case MemoryContext::Kind::kPointer:
      return FieldType::kInt;
    case MemoryContext::Kind::kString:
      return FieldType::kText;
    case MemoryContext::Kind::kBytes:
      break;
  }
  return FieldType::kArray;
}

// If there is no machine code for a program, the error is made here, where the text of the request is known.
Status check_length(const script::HitProgram& hit, const DataRequest& wanted) {
  const auto is_large = [](const jit::HitNeeds& needs) {
    return needs.words > jit::kMaxHitWords || needs.code_size > jit::kMaxHitCode;
  };
  const auto too_long = [](const std::string& text, const char* option) {
    return script::error_at(text, {.end = static_cast<uint32_t>(text.size())},
                            "this takes too many steps at a hit: make it shorter")
        .with_context(option);
  };
  if (is_large(jit::condition_needs(hit))) return too_long(wanted.condition, "--filter");
  if (is_large(jit::output_needs(hit)) && !wanted.captures.empty())
    return too_long(wanted.captures.back(), "--capture");
  return {};
}

bool is_too_long(const script::HitProgram& hit) {
  const jit::HitNeeds condition = jit::condition_needs(hit), outputs = jit::output_needs(hit);
  return std::max(condition.words, outputs.words) > jit::kMaxHitWords ||
         condition.code_size + outputs.code_size > jit::kMaxHitCode;
}

Result<script::Captured> compile_within(const script::Limits& limits, const ProbeRequest& request,
                                        script::Scope& scope) {
  const DataRequest& wanted = request.data;
  const bool is_return = request.kind == ProbeKind::kReturn;
  script::Compiler compiler({.scope = &scope,
                             .is_return = is_return,
                             .entry = is_return ? &scope : nullptr,
                             .has_fields = is_return},
                            limits);
  const auto said = [](const Status& status, const char* option) {
    return status ? status : Status(status.error().with_context(option));
  };
  if (!wanted.condition.empty()) TRY_OK(said(compiler.add_filter(wanted.condition), "--filter"));
  if (wanted.args) compiler.add_variables(scope.parameters());
  if (wanted.locals && !scope.what_is_missing().empty())
    return Error(ErrorKind::kNotFound, "--locals: " + scope.what_is_missing());
  if (wanted.locals) compiler.add_variables(scope.locals(), FieldGroup::kLocal);
  for (const std::string& list : wanted.captures) TRY_OK(said(compiler.add_capture(list), "--capture"));
  return compiler.finish();
}

void show_in_hex(std::vector<Field>& fields) {
  for (Field& field : fields) {
    field.is_hex |= field.type == FieldType::kInt;
    show_in_hex(field.members);
  }
}

}  // namespace

HitDataMaker::HitDataMaker(const Options& options, std::span<const probe::Module> modules, DebugStore& store)
    : options_(options), modules_(modules), scopes_(modules, store) {}

Result<HitData> HitDataMaker::make(const Target& target) {
  const ProbeRequest& request = options_.probes[target.request];
  if (request.wanted) return of_handler(target);
  HitData data;
  if (!request.data.empty()) {
    TRY(data, compile(target));
  }
  for (const Context& context : request.contexts)
    if (context.row->kind == ContextKind::kMemory) TRY_OK(add_memory(context.memory, target, data));
  return data;
}

namespace {

// What names mean at a target, for a handler that asks.
class TargetSite final : public script::HitSite {
 public:
  TargetSite(Scopes& scopes, const Target& target, bool is_return)
      : scope_([&scopes, &target] { return scopes.at(target); }, target.mark != nullptr),
        meaning_{.scope = &scope_,
                 .is_return = is_return,
                 .entry = is_return ? &scope_ : nullptr,
                 .has_fields = false} {}

  const script::HitScopes& scopes() override { return meaning_; }

 private:
  LazyScope scope_;
  script::HitScopes meaning_;
};

}  // namespace

Result<HitData> HitDataMaker::of_handler(const Target& target) {
  TargetSite site(scopes_, target, options_.probes[target.request].kind == ProbeKind::kReturn);
  auto made = options_.handlers->handler_at(target, modules_[target.module], site);
  // What is wrong with a script is no wrong use of blip.
  if (!made) return Error(ErrorKind::kUnsupported, made.error().message());
  HitData data = *std::move(made);
  if (is_too_long(data.hit))
    return Error(ErrorKind::kUnsupported, "the handler takes too many steps at a hit: make it shorter");
  if (jit::mentions(data.hit, Op::kLatency) && records_monotonic_time(options_))
    return Error(ErrorKind::kUnsupported,
                 "the time that a call took needs the CPU's cycle counter, and times come from "
                 "CLOCK_MONOTONIC here");
  return data;
}

// Filters of returns often look at nothing that a program has to tell: debugging information of hundreds of
// functions need not be read for them.
Result<HitData> HitDataMaker::compile(const Target& target) {
  const ProbeRequest& request = options_.probes[target.request];
  const std::string& filter = request.data.condition;
  const bool names_no_type = filter.find_first_of("$\"") == std::string::npos;
  if (request.kind == ProbeKind::kReturn && !shows_data(request) && names_no_type) {
    script::NoDebugScope nothing("", script::NoDebugScope::At::kElsewhere, "");
    if (auto data = compile_at(target, nothing)) return data;
  }
  return compile_at(target, *scopes_.at(target));
}

// The record also holds what other contexts ask for: some dozens of bytes, or all registers. What takes too
// many steps is shown as the structures it lies in.
Result<HitData> HitDataMaker::compile_at(const Target& target, script::Scope& scope) {
  const ProbeRequest& request = options_.probes[target.request];
  script::Limits limits{
      .string_max = options_.string_max, .elements = options_.elements, .depth = options_.depth};
  auto compiled = compile_within(limits, request, scope);
  if (!compiled || is_too_long(compiled->program)) {
    limits.variants = false;
    compiled = compile_within(limits, request, scope);
  }
  if (!compiled) return compiled.error();
  script::Captured captured = *std::move(compiled);
  TRY_OK(check_length(captured.program, request.data));
  if (jit::mentions(captured.program, Op::kLatency) && records_monotonic_time(options_))
    return Error(
        ErrorKind::kUnsupported,
        "latency_ns needs the CPU's cycle counter in expressions, and times come from CLOCK_MONOTONIC "
        "here");
  if (options_.hex) show_in_hex(captured.fields);
  ctf::place_notes(captured.fields);
  HitData data{std::move(captured.program), std::move(captured.fields)};
  data.kept.code = std::move(captured.entry);
  for (const uint32_t node : captured.entry_nodes) data.kept.outputs.push_back({.node = node});
  return data;
}

Status HitDataMaker::add_memory(const MemoryContext& memory, const Target& target, HitData& data) const {
  auto address = memory_address(memory.address, modules_, target.module);
  if (!address) return address.error().with_context(fmt::format("--context {}", memory.name));
  script::Code& code = data.hit.code;
  const uint32_t where = code.constant(*address);
  Field field{.name = memory.name, .type = type_of(memory.kind), .size = memory.size};
  field.output = static_cast<uint32_t>(data.hit.outputs.size());
  field.is_signed = memory.is_signed;
  field.is_hex = memory.kind == MemoryContext::Kind::kPointer;
  field.group = FieldGroup::kContext;
  Output output{.kind = Output::Kind::kValue, .size = memory.size};
  if (memory.kind == MemoryContext::Kind::kString) {
    output = {.kind = Output::Kind::kString, .node = where, .size = 1, .count = options_.string_max};
  } else if (memory.kind == MemoryContext::Kind::kBytes) {
    output = {.kind = Output::Kind::kBytes, .node = where, .count = memory.size};
    field.count = memory.size;
    field.size = 1;
    field.members = {{.type = FieldType::kInt, .size = 1}};
  } else {
    output.node = code.add({.op = Op::kLoad, .width = static_cast<uint8_t>(memory.size), .a = where});
  }
  data.hit.outputs.push_back(output);
  data.fields.push_back(std::move(field));
  return {};
}

}  // namespace blip::session
