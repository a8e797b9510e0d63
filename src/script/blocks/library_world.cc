// SPDX-License-Identifier: MIT
// Functions that ask the session: for names of threads, probes and addresses, frames of stacks, the time of day.
#include "script/blocks/library.h"

namespace blip::script {

namespace {

constexpr auto kNumber = state::ValueType::kNumber, kText = state::ValueType::kText;

// The code at (process, address): what is inlined there is its own function.
CodeName code_at(const LibraryCall& call) {
  if (!call.world) return {};
  const auto names = call.world->names_of(call.arguments[0].number, call.arguments[1].number);
  return names.empty() ? CodeName() : names.front();
}

CodeName place_of_probe(const LibraryCall& call) {
  return call.world ? call.world->probe(call.arguments[0].number).place : CodeName();
}

std::vector<uint64_t> stack_of(const LibraryCall& call) {
  return call.world ? call.world->stack(call.arguments[0].number) : std::vector<uint64_t>();
}

void thread_name(LibraryCall& call) {
  if (call.world) call.text = call.world->thread_name(call.arguments[0].number, call.arguments[1].number);
}
void function_at(LibraryCall& call) { call.text = code_at(call).function; }
void offset_at(LibraryCall& call) { call.number = code_at(call).offset; }
void module_at(LibraryCall& call) { call.text = code_at(call).module; }
void file_at(LibraryCall& call) { call.text = code_at(call).file; }
void line_at(LibraryCall& call) { call.number = code_at(call).line; }
void probe_function(LibraryCall& call) { call.text = place_of_probe(call).function; }
void probe_module(LibraryCall& call) { call.text = place_of_probe(call).module; }
void probe_offset(LibraryCall& call) { call.number = place_of_probe(call).offset; }
void probe_file(LibraryCall& call) { call.text = place_of_probe(call).file; }
void probe_line(LibraryCall& call) { call.number = place_of_probe(call).line; }
void stack_depth(LibraryCall& call) { call.number = stack_of(call).size(); }

// (stack, which): 0 behind the last one.
void stack_frame(LibraryCall& call) {
  const auto frames = stack_of(call);
  const uint64_t which = call.arguments[1].number;
  call.number = which < frames.size() ? frames[which] : 0;
}

void realtime(LibraryCall& call) {
  if (call.world) call.number = call.world->realtime_ns(call.arguments[0].number);
}
void target_pid(LibraryCall& call) {
  if (call.world) call.number = call.world->target_pid();
}
void parent_pid(LibraryCall& call) {
  if (call.world) call.number = call.world->parent(call.arguments[0].number);
}
void argument_count(LibraryCall& call) {
  if (call.world) call.number = call.world->command_line(call.arguments[0].number).size();
}

// (process, which)
void command_argument(LibraryCall& call) {
  if (!call.world) return;
  auto words = call.world->command_line(call.arguments[0].number);
  if (call.arguments[1].number < words.size()) call.text = std::move(words[call.arguments[1].number]);
}

// (process, name)
void environment(LibraryCall& call) {
  if (call.world)
    call.text = call.world->environment(call.arguments[0].number, std::string(call.arguments[1].text));
}

}  // namespace

std::span<const LibraryFunction> world_functions() {
  static const std::vector<LibraryFunction> kAll = {
      {"thread_name", {kNumber, kNumber}, kText, thread_name},
      {"function_at", {kNumber, kNumber}, kText, function_at},
      {"offset_at", {kNumber, kNumber}, kNumber, offset_at},
      {"module_at", {kNumber, kNumber}, kText, module_at},
      {"file_at", {kNumber, kNumber}, kText, file_at},
      {"line_at", {kNumber, kNumber}, kNumber, line_at},
      {"probe_function", {kNumber}, kText, probe_function},
      {"probe_module", {kNumber}, kText, probe_module},
      {"probe_offset", {kNumber}, kNumber, probe_offset},
      {"probe_file", {kNumber}, kText, probe_file},
      {"probe_line", {kNumber}, kNumber, probe_line},
      {"stack_depth", {kNumber}, kNumber, stack_depth},
      {"stack_frame", {kNumber, kNumber}, kNumber, stack_frame},
      {"realtime", {kNumber}, kNumber, realtime},
      {"target_pid", {}, kNumber, target_pid},
      {"parent_pid", {kNumber}, kNumber, parent_pid},
      {"argument_count", {kNumber}, kNumber, argument_count},
      {"command_argument", {kNumber, kNumber}, kText, command_argument},
      {"environment", {kNumber, kText}, kText, environment},
  };
  return kAll;
}

}  // namespace blip::script
