// SPDX-License-Identifier: MIT
#include "session/plan/contexts.h"

#include <algorithm>

#include "ctf/known_fields.h"

namespace blip::session {

namespace {

using jit::Capture;
using Type = ctf::FieldType;

constexpr ContextField kIpFields[] = {{ctf::kIpField, Type::kHex64, Capture::kConstant}};
constexpr ContextField kPidFields[] = {{ctf::kPidField, Type::kInt32, Capture::kNone}};
constexpr ContextField kTidFields[] = {{ctf::kTidField, Type::kInt32, Capture::kTid}};
constexpr ContextField kCommFields[] = {{"procname", Type::kText16, Capture::kThreadKey}};
constexpr ContextField kCpuFields[] = {{"cpu", Type::kUint32, Capture::kCpu}};
constexpr ContextField kStackFields[] = {
    {"stack_id", Type::kStackId, Capture::kStack},
    {ctf::kStackInfoField, Type::kStackInfo, Capture::kNone, /*is_implicit=*/true}};

// The register of the result is that of the calling convention. Which value `tail` has, and whether there is a
// result, differs from one exit of a function to the next.
constexpr ContextField kReturnFields[] = {
    {.name = "ret", .type = Type::kHex64, .capture = Capture::kRegister, .is_result = true},
    {.name = "latency_ns", .type = Type::kUint64, .capture = Capture::kLatency, .is_duration = true},
    {"depth", Type::kUint16, Capture::kDepth},
    {"tail", Type::kUint8, Capture::kShortConstant}};

}  // namespace

namespace contexts {
const ContextRow kAllRegisters{ContextKind::kAllRegisters, {"regs"}};
const ContextRow kRegister{ContextKind::kRegister, {"reg:NAME"}};
const ContextRow kIp{.words = {"ip"}, .fields = kIpFields};
const ContextRow kPid{ContextKind::kPid, {"pid", "vpid"}, kPidFields};
const ContextRow kTid{.words = {"tid", "vtid"}, .fields = kTidFields};
const ContextRow kComm{.words = {"comm", "procname"}, .fields = kCommFields};
const ContextRow kCpu{.words = {"cpu"}, .fields = kCpuFields};
const ContextRow kBacktrace{.words = {"backtrace"}, .fields = kStackFields, .is_dear = true};
const ContextRow kMemory{ContextKind::kMemory, {"TYPE:NAME:ADDR"}};
}  // namespace contexts

ContextRows known_contexts() {
  using namespace contexts;
  static constexpr const ContextRow* kRows[] = {&kAllRegisters, &kRegister, &kIp,        &kPid,   &kTid,
                                                &kComm,         &kCpu,      &kBacktrace, &kMemory};
  return kRows;
}

std::span<const ContextField> return_fields() { return kReturnFields; }

bool ContextRow::tells_thread() const {
  return std::any_of(fields.begin(), fields.end(), [](const ContextField& f) {
    return f.capture == Capture::kTid || f.capture == Capture::kThreadKey;
  });
}

bool ContextRow::has_stack() const {
  return std::any_of(fields.begin(), fields.end(),
                     [](const ContextField& f) { return f.type == Type::kStackId; });
}

ctf::Field context_field(const ContextField& field) {
  return {.name = std::string(field.name),
          .type = field.type,
          .is_context = true,
          .is_implicit = field.is_implicit,
          .is_duration = field.is_duration};
}

ctf::Field context_field(const ContextRow& row) { return context_field(row.fields.front()); }

}  // namespace blip::session
