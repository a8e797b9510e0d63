// SPDX-License-Identifier: MIT
#include "session/plan/classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

#include "abi/layout.h"
#include "ctf/known_fields.h"
#include "jit/program/hit_needs.h"
#include "machine/registers.h"
#include "session/plan/contexts.h"
#include "session/plan/purpose.h"
#include "session/plan/requests.h"

namespace blip::session {

namespace {

struct LayoutField {
  ctf::Field field;
  jit::Capture capture;
  uint8_t reg = 0;
  bool is_result = false;
};

LayoutField register_field(std::string_view name) {
  LayoutField f{{std::string(name), ctf::FieldType::kHex64}, jit::Capture::kRegister};
  f.field.group = ctf::FieldGroup::kContext;
  if (const auto part = machine::find_register(machine::host().registers, name)) {
    f.reg = static_cast<uint8_t>(part->number);
  } else {
    f.capture = name == machine::host().registers.instruction_pointer ? jit::Capture::kConstant
                                                                      : jit::Capture::kFlags;
  }
  return f;
}

void add_fields(std::span<const ContextField> from, std::vector<LayoutField>& out) {
  for (const ContextField& f : from) {
    // What a function returns is in the first register of results.
    const uint8_t reg = f.is_result ? machine::host().convention.results.front() : 0;
    out.push_back({context_field(f), f.capture, reg, f.is_result});
  }
}

void add_context(const Context& context, std::vector<LayoutField>& out) {
  switch (context.row->kind) {
    case ContextKind::kFields:
      return add_fields(context.row->fields, out);
    case ContextKind::kRegister:
      out.push_back(register_field(context.register_name));
      return;
    case ContextKind::kAllRegisters:
      for (std::string_view name : machine::host().registers.general) out.push_back(register_field(name));
      out.push_back(register_field(machine::host().registers.instruction_pointer));
      out.push_back(register_field(machine::host().registers.flags));
      return;
    case ContextKind::kPid:     // not in the records of a ring: see pid_field()
    case ContextKind::kMemory:  // a part of the place's data
      return;
  }
}

// Adds the fields that action_at() changes for each exit.
void add_return_fields(std::vector<LayoutField>& out) {
  const size_t first = out.size();
  add_fields(return_fields(), out);
  for (size_t i = first; i < out.size(); ++i) {
    out[i].field.is_context = false;
    out[i].field.group = ctf::FieldGroup::kOwn;
  }
}

// Readers that name addresses want the process and an address in front, in every event of the trace.
bool names_addresses(const Options& options) {
  return writes_files(options) && std::any_of(options.probes.begin(), options.probes.end(), asks_for_stack);
}

// The pid in front of all fields: asked for, or needed because events of several processes may come.
std::optional<ctf::Field> pid_field(const Options& options, size_t request) {
  if (!makes_events(options)) return {};
  const std::vector<Context>& contexts = options.probes[request].contexts;
  const bool asked = std::any_of(contexts.begin(), contexts.end(),
                                 [](const Context& c) { return c.row->kind == ContextKind::kPid; });
  const bool several = options.follow_fork || options.pids.size() > 1 || !options.process_name.empty();
  const bool named =
      names_addresses(options) || (shows_events(options) && asks_for_stack(options.probes[request]));
  if (!asked && !several && !named) return {};
  ctf::Field pid = context_field(contexts::kPid);
  pid.is_implicit = !asked && !names_addresses(options);
  return pid;
}

// The fields of one request, contexts first, each name once.
std::vector<LayoutField> request_fields(const Options& options, size_t request, bool shared_class) {
  std::vector<LayoutField> all;
  if (!makes_events(options)) return all;
  if (shared_class || names_addresses(options)) add_context({&contexts::kIp}, all);
  if (stores_tid(options)) add_context({&contexts::kTid}, all);
  for (const Context& context : options.probes[request].contexts) add_context(context, all);
  const bool is_of_script = options.probes[request].wanted.has_value();  // its handler says what it wants
  if (options.probes[request].kind == ProbeKind::kReturn && !is_of_script) add_return_fields(all);

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

// `may_fault`: whether the program reads memory for it.
ctf::RecordOutput record_output(const script::Output& output, bool may_fault) {
  using Kind = ctf::RecordOutput::Kind;
  switch (output.kind) {
    case script::Output::Kind::kValue:
      return {.kind = Kind::kFixed, .size = output.size, .may_fault = may_fault};
    case script::Output::Kind::kBytes:
      return {.kind = Kind::kFixed, .size = output.count, .may_fault = may_fault};
    case script::Output::Kind::kString:
      return {.kind = Kind::kString, .size = 1, .count = output.count, .may_fault = may_fault};
    case script::Output::Kind::kCollected:
      return {.kind = Kind::kCollected, .size = 1, .count = output.count, .may_fault = false};
    case script::Output::Kind::kSequence:
      break;
  }
  return {.kind = Kind::kSequence, .size = output.size, .count = output.count, .may_fault = may_fault};
}

bool has_stack(const ctf::EventClass& c) {
  return std::any_of(c.fields.begin(), c.fields.end(),
                     [](const ctf::Field& f) { return f.type == ctf::FieldType::kStackId; });
}

constexpr uint32_t kFrameSize = sizeof(uint64_t);

// In the payload: babeltrace2 2.0 fails for sequences in the context of an event. `output`: behind what
// programs capture.
void add_frames_field(ctf::EventClass& c, size_t output) {
  ctf::Field frames{.name = std::string(ctf::kBacktraceField), .type = ctf::FieldType::kSequence};
  frames.output = static_cast<uint32_t>(output);
  frames.size = kFrameSize;
  frames.group = ctf::FieldGroup::kContext;
  frames.members = {{.name = "", .type = ctf::FieldType::kInt, .size = kFrameSize, .is_hex = true}};
  c.fields.push_back(std::move(frames));
}

void add_frames_output(ctf::EventClass& c) {
  c.has_hit_word = true;
  c.outputs.push_back({.kind = ctf::RecordOutput::Kind::kSequence,
                       .size = kFrameSize,
                       .count = abi::kMaxStackDepth,
                       .may_fault = false,
                       .is_added = true});
}

ctf::EventClass make_class(uint16_t id, std::string name, const std::optional<ctf::Field>& pid,
                           const std::vector<LayoutField>& fields, const HitData& data = {}) {
  ctf::EventClass c{.id = id, .name = std::move(name)};
  c.leads_with_pid = pid.has_value();
  if (pid) c.fields.push_back(*pid);
  for (const LayoutField& f : fields) c.fields.push_back(f.field);
  c.has_hit_word = !data.fields.empty() || !data.hit.outputs.empty();
  if (has_stack(c)) add_frames_field(c, data.hit.outputs.size());
  c.fields.insert(c.fields.end(), data.fields.begin(), data.fields.end());
  const std::vector<jit::NodeFacts> facts = jit::facts_of(data.hit.code);
  for (const script::Output& output : data.hit.outputs) {
    const bool reads = output.kind != script::Output::Kind::kValue;
    c.outputs.push_back(record_output(output, reads || facts[output.node].may_fault));
  }
  if (has_stack(c)) add_frames_output(c);
  ctf::lay_out(c);
  return c;
}

// Returns the offset that a field of a request got.
uint16_t offset_of(const LayoutField& wanted, const ctf::EventClass& c) {
  const auto found = std::find_if(c.fields.begin(), c.fields.end(), [&](const ctf::Field& f) {
    return f.name == wanted.field.name && f.type == wanted.field.type;
  });
  return static_cast<uint16_t>(found->offset);
}

jit::Action make_action(uint32_t id, const ctf::EventClass& c, const std::vector<LayoutField>& fields,
                        const ProbedPlace& place) {
  jit::Action action{.class_id = id, .record_size = ctf::ring_record_size(c)};
  action.hit = place.data.hit;
  action.fixed_size = c.fixed_size;
  for (const ctf::RecordOutput& output : c.outputs)
    action.output_offsets.push_back(static_cast<uint16_t>(output.offset));
  const uint32_t pid_size = c.leads_with_pid && !c.has_hit_word ? ctf::kPidSize : 0;
  for (size_t i = 0; i < fields.size(); ++i) {
    action.fields.push_back({.capture = fields[i].capture,
                             .reg = fields[i].reg,
                             .offset = static_cast<uint16_t>(offset_of(fields[i], c) - pid_size),
                             .value = place.data.number.value_or(place.ip),
                             .is_result = fields[i].is_result});
  }
  if (has_stack(c)) action.stack_at = place.ip | (place.is_entry ? abi::kHitAtEntry : 0);
  if (c.has_hit_word && action.hit.outputs.empty())
    action.fields.push_back(
        {.capture = jit::Capture::kHitWord, .offset = abi::kHitWordOffset, .value = action.record_size});
  return action;
}

// The same for places whose records look the same.
std::string layout_of(const HitData& data) {
  std::string text;
  const std::function<void(const ctf::Field&)> add = [&](const ctf::Field& f) {
    fmt::format_to(std::back_inserter(text), "{}:{}:{}:{}:{}:{}:{}:{}:{}:{}:{}{{", static_cast<int>(f.type),
                   f.name, f.output, f.begin, f.size, f.is_signed, f.is_hex, f.bit_offset, f.bit_size,
                   f.count, f.note);
    for (const ctf::Label& label : f.labels)
      fmt::format_to(std::back_inserter(text), "{}={},", label.name, label.value);
    for (const ctf::Field& member : f.members) add(member);
    text += '}';
  };
  for (const ctf::Field& field : data.fields) add(field);
  for (const script::Output& o : data.hit.outputs)
    fmt::format_to(std::back_inserter(text), "{}:{}:{};", static_cast<int>(o.kind), o.size, o.count);
  return text;
}

}  // namespace

Result<size_t> ClassTable::class_of(const ProbedPlace& place, bool shared) {
  const ProbeRequest& request = options_.probes[place.request];
  const std::string suffix = request.kind == ProbeKind::kReturn ? ":return" : "";
  const std::string name = shared ? request.spec.text + suffix : place.name;
  const bool is_mark = request.kind == ProbeKind::kMark;
  const bool by_place = !shared && request.kind != ProbeKind::kLine && !is_mark && !place.is_inlined;
  const std::string module = (place.is_inlined || is_mark) && !shared ? place.module : "";
  const Key key = by_place ? Key{name, place.module, place.addr.value, place.request, ""}
                           : Key{name, module, 0, place.request, layout_of(place.data)};
  const auto [entry, is_new] = index_.try_emplace(key, classes_.size());
  if (is_new) {
    const auto id = static_cast<uint16_t>(abi::kFirstClass + classes_.size());
    ctf::EventClass made = make_class(id, name, pid_field(options_, place.request),
                                      request_fields(options_, place.request, shared), place.data);
    if (const Status status = ctf::check_outputs(made); !status) {
      index_.erase(entry);
      return status.error().with_context(name);
    }
    classes_.push_back(std::move(made));
    classes_.back().many_places = shared;
    origins_.push_back({place.module, place.request});
    if (by_place) origins_.back().address = place.addr.value;
  }
  return entry->second;
}

uint32_t ClassTable::largest_record(const std::vector<bool>& requests) const {
  uint32_t largest = 0;
  for (size_t i = 0; i < requests.size(); ++i)
    if (requests[i] && shows_data(options_.probes[i])) {
      largest = abi::kMaxRecordSize;  // what a library that is not there yet has to show is not known
    } else if (requests[i]) {
      largest = std::max(largest, ctf::ring_record_size(make_class(0, "", pid_field(options_, i),
                                                                   request_fields(options_, i, true))));
    }
  return largest;
}

uint16_t ClassTable::add_own(const OwnClass& own) {
  ctf::EventClass c{.id = static_cast<uint16_t>(abi::kFirstClass + classes_.size()), .name = own.name};
  c.leads_with_pid = c.of_blip = true;
  c.tells_files = own.tells_files;
  c.fields = {context_field(contexts::kPid), own.context};
  c.fields.insert(c.fields.end(), own.payload.begin(), own.payload.end());
  ctf::lay_out(c);
  classes_.push_back(std::move(c));
  origins_.push_back({"", 0});
  return classes_.back().id;
}

uint16_t ClassTable::add_life_record(const char* name) {
  ctf::EventClass c{.id = static_cast<uint16_t>(abi::kFirstClass + classes_.size()), .name = name};
  c.leads_with_pid = c.tells_lives = true;
  c.fields = {context_field(contexts::kPid),
              context_field(contexts::kTid),
              {.name = "value", .type = ctf::FieldType::kUint64}};
  ctf::lay_out(c);
  classes_.push_back(std::move(c));
  origins_.push_back({"", 0});
  return classes_.back().id;
}

// By request.
std::vector<bool> ClassTable::which_share(std::span<const ProbedPlace> places) const {
  const auto is_every = [&](size_t request) {
    return options_.probes[request].kind == ProbeKind::kEveryInstruction;
  };
  const auto own =
      std::count_if(places.begin(), places.end(), [&](const ProbedPlace& p) { return !is_every(p.request); });
  std::vector<bool> shared(options_.probes.size(), static_cast<size_t>(own) > kMaxOwnClasses);
  for (size_t i = 0; i < shared.size(); ++i)
    shared[i] = makes_events(options_) && (shared[i] || is_every(i) || options_.probes[i].wanted);
  return shared;
}

Result<std::vector<jit::Action>> ClassTable::add(std::span<const ProbedPlace> places, uint32_t end_id) {
  const size_t before = classes_.size();
  auto actions = try_add(places, which_share(places));
  const auto fits = [&] {
    return std::all_of(actions->begin(), actions->end(),
                       [&](const jit::Action& p) { return p.class_id < end_id; });
  };
  const bool are_many = before != 0 && classes_.size() > before && classes_.size() > kMaxOwnClasses;
  if (actions && makes_events(options_) && (are_many || !fits())) {
    cut_back(before);
    actions = try_add(places, std::vector<bool>(options_.probes.size(), true));
  }
  if (actions && fits()) return actions;
  cut_back(before);
  if (!actions) return actions.error();
  return Error(ErrorKind::kUnsupported, "the trace has no room for its events: give a larger --max-probes");
}

// Takes out what came later.
void ClassTable::cut_back(size_t count) {
  classes_.resize(count);
  origins_.resize(count);
  std::erase_if(index_, [&](const auto& entry) { return entry.second >= count; });
}

Result<std::vector<jit::Action>> ClassTable::try_add(std::span<const ProbedPlace> places,
                                                     const std::vector<bool>& shared) {
  std::vector<std::vector<LayoutField>> fields;  // by request
  for (size_t i = 0; i < shared.size(); ++i) fields.push_back(request_fields(options_, i, shared[i]));
  std::vector<jit::Action> actions;
  for (const ProbedPlace& place : places) {
    TRY(const size_t index, class_of(place, shared[place.request]));
    const auto id = static_cast<uint32_t>(abi::kFirstClass + index);
    actions.push_back(make_action(id, classes_[index], fields[place.request], place));
    if (!makes_events(options_))
      actions.back().effect = options_.latencies ? jit::Effect::kLatency : jit::Effect::kCount;
  }
  return actions;
}

}  // namespace blip::session
