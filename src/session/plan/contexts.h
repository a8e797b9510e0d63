// SPDX-License-Identifier: MIT
// The table of what blip itself knows of a hit, beside the program's data. --context names most of it; events
// of returns have the rest. A new context is a new row: options, help, completion, records, the metadata of
// traces and all outputs follow from it. Code is needed only for a value that pads cannot capture yet
// (jit::Capture).
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "ctf/schema.h"
#include "jit/program/action.h"

namespace blip::session {

// One field that a context puts into events.
struct ContextField {
  std::string_view name;  // in traces
  ctf::FieldType type;
  jit::Capture capture;
  bool is_implicit = false;  // as ctf::Field has them
  bool is_duration = false;
  bool is_result = false;  // as jit::Field has it
};

enum class ContextKind : uint8_t {
  kFields,        // `fields` are all that there is
  kPid,           // of its one field, in front of all others: no record in a ring has it
  kRegister,      // the field is made of Context::register_name
  kAllRegisters,  // the fields are all general registers, the instruction pointer and the flags
  kMemory,        // the value is computed, as told by Context::memory
};

struct ContextRow {
  ContextKind kind = ContextKind::kFields;
  // As --context has it, and another word for the same; of kRegister and kMemory how it is written.
  std::array<std::string_view, 2> words{};
  std::span<const ContextField> fields{};
  bool is_dear = false;  // only the probes that it was asked for have it

  bool is_pattern() const { return kind == ContextKind::kRegister || kind == ContextKind::kMemory; }
  // Pads must know the thread for it.
  bool tells_thread() const;
  bool has_stack() const;
};

namespace contexts {
extern const ContextRow kAllRegisters, kRegister, kIp, kPid, kTid, kComm, kCpu, kBacktrace, kMemory;
}  // namespace contexts

using ContextRows = std::span<const ContextRow* const>;
// All that --context knows, in the order of its help.
ContextRows known_contexts();

// Every event of a return has these fields behind its contexts.
std::span<const ContextField> return_fields();

// The field in events. Contexts lie in the scope of their name.
ctf::Field context_field(const ContextField& field);
// The only field of a row.
ctf::Field context_field(const ContextRow& row);

}  // namespace blip::session
