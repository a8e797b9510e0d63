// SPDX-License-Identifier: MIT
#include "session/classes.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "abi/layout.h"

namespace blip::session {

namespace {

// In encoding order.
constexpr std::array<std::string_view, 16> kRegisters = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                                         "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                                         "r12", "r13", "r14", "r15"};

struct LayoutField {
  ctf::Field field;
  jit::Capture capture;
  uint8_t reg = 0;
};

LayoutField register_field(std::string_view name) {
  LayoutField f{{std::string(name), ctf::FieldType::kHex64}, jit::Capture::kRegister};
  const auto it = std::find(kRegisters.begin(), kRegisters.end(), name);
  if (it != kRegisters.end()) {
    f.reg = static_cast<uint8_t>(it - kRegisters.begin());
  } else {
    f.capture = name == "rip" ? jit::Capture::kConstant : jit::Capture::kFlags;
  }
  return f;
}

LayoutField context_field(std::string_view name, ctf::FieldType type, jit::Capture capture) {
  return {{std::string(name), type, 0, true}, capture};
}

void add_context(const Context& context, std::vector<LayoutField>& out) {
  switch (context.kind) {
    case ContextKind::kRegister:
      out.push_back(register_field(context.register_name));
      return;
    case ContextKind::kAllRegisters:
      for (std::string_view name : kRegisters) out.push_back(register_field(name));
      out.push_back(register_field("rip"));
      out.push_back(register_field("rflags"));
      return;
    case ContextKind::kIp:
      out.push_back(context_field("ip", ctf::FieldType::kHex64, jit::Capture::kConstant));
      return;
    case ContextKind::kPid:
      out.push_back(context_field("vpid", ctf::FieldType::kInt32, jit::Capture::kPid));
      return;
    case ContextKind::kTid:
      out.push_back(context_field("vtid", ctf::FieldType::kInt32, jit::Capture::kTid));
      return;
    case ContextKind::kComm:
      out.push_back(context_field("procname", ctf::FieldType::kText16, jit::Capture::kThreadKey));
      return;
    case ContextKind::kCpu:
      out.push_back(context_field("cpu", ctf::FieldType::kUint32, jit::Capture::kCpu));
      return;
  }
}

// The fields of one request, contexts first, each name once.
std::vector<LayoutField> request_fields(const Options& options, size_t request, bool shared_class) {
  std::vector<LayoutField> all;
  if (options.mode == Mode::kTrace) add_context({ContextKind::kTid, {}}, all);
  if (shared_class) add_context({ContextKind::kIp, {}}, all);
  for (const Context& context : options.probes[request].contexts) add_context(context, all);
  std::vector<LayoutField> fields;
  for (LayoutField& f : all) {
    const bool known = std::any_of(fields.begin(), fields.end(),
                                   [&](const LayoutField& g) { return g.field.name == f.field.name; });
    if (!known) fields.push_back(std::move(f));
  }
  std::stable_partition(fields.begin(), fields.end(),
                        [](const LayoutField& f) { return f.field.is_context; });
  return fields;
}

ctf::EventClass make_class(uint16_t id, std::string name, const std::vector<LayoutField>& fields) {
  ctf::EventClass c{.id = id, .name = std::move(name)};
  for (const LayoutField& f : fields) c.fields.push_back(f.field);
  ctf::lay_out(c);
  return c;
}

jit::Program make_program(const ctf::EventClass& c, const std::vector<LayoutField>& fields, uint64_t ip) {
  jit::Program program{.class_id = c.id, .record_size = c.record_size};
  for (size_t i = 0; i < fields.size(); ++i) {
    program.fields.push_back({.capture = fields[i].capture,
                              .reg = fields[i].reg,
                              .offset = static_cast<uint16_t>(c.fields[i].offset),
                              .value = ip});
  }
  return program;
}

}  // namespace

ClassTable make_classes(const Options& options, std::span<const probe::FunctionTarget> targets,
                        std::span<const uint64_t> ips) {
  ClassTable table;
  const bool counts = options.mode == Mode::kCount;
  const bool shared = !counts && targets.size() > kMaxOwnClasses;
  std::map<size_t, std::vector<LayoutField>> fields;  // by request
  std::map<size_t, size_t> shared_class;              // request -> index
  for (size_t i = 0; i < targets.size(); ++i) {
    const size_t request = targets[i].request;
    if (!fields.contains(request))
      fields[request] = counts ? std::vector<LayoutField>{} : request_fields(options, request, shared);
    size_t index = table.classes.size();
    if (!shared || shared_class.try_emplace(request, index).second) {
      const auto& name = shared ? options.probes[request].spec.text : targets[i].name;
      table.classes.push_back(
          make_class(static_cast<uint16_t>(abi::kFirstClass + index), name, fields[request]));
    } else {
      index = shared_class[request];
    }
    jit::Program program = make_program(table.classes[index], fields[request], ips[i]);
    if (counts) program.kind = jit::Program::Kind::kCount;
    table.programs.push_back(std::move(program));
  }
  return table;
}

}  // namespace blip::session
