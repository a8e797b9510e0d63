// SPDX-License-Identifier: MIT
#include "session/script_world.h"

#include <time.h>

#include <cstring>

#include "base/path.h"
#include "proc/files/process_facts.h"

namespace blip::session {

namespace {

constexpr size_t kMostProcesses = 4096;  // that are remembered

uint64_t ns_of(clockid_t clock) {
  constexpr uint64_t kNsPerSecond = 1'000'000'000;
  timespec now;
  ::clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * kNsPerSecond + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

ScriptWorld::ScriptWorld(const Handlers& handlers) : handlers_(handlers) { refresh(); }

void ScriptWorld::refresh() {
  realtime_offset_ = ns_of(CLOCK_REALTIME) - ns_of(CLOCK_MONOTONIC);
  for (auto& [pid, names] : threads_) names.refresh();
  if (threads_.size() > kMostProcesses) threads_.clear();
  if (users_.size() > kMostProcesses) users_.clear();
}

std::vector<script::CodeName> ScriptWorld::names_of(uint64_t pid, uint64_t address) {
  std::vector<script::CodeName> names;
  if (!session_) return names;
  for (const NamedFrame& f : session_->names_at(static_cast<pid_t>(pid), address)) {
    if (f.function.empty() && f.module.empty()) continue;
    names.push_back({.function = f.function,
                     .offset = f.offset.value_or(0),
                     .module = f.module,
                     .file = f.file,
                     .line = f.line});
  }
  return names;
}

std::vector<uint64_t> ScriptWorld::stack(uint64_t number) {
  const Engine::Stack* stack = engine_ ? engine_->stack(number) : nullptr;
  return stack ? stack->second : std::vector<uint64_t>();
}

uint64_t ScriptWorld::process_of_stack(uint64_t number) {
  const Engine::Stack* stack = engine_ ? engine_->stack(number) : nullptr;
  return stack ? static_cast<uint32_t>(stack->first) : 0;
}

std::string ScriptWorld::thread_name(uint64_t pid, uint64_t tid) {
  const auto process = static_cast<pid_t>(pid);
  const ThreadNames::Name& name =
      threads_.try_emplace(process, process).first->second.of(static_cast<int32_t>(tid));
  return {name.data(), ::strnlen(name.data(), name.size())};
}

std::vector<std::string> ScriptWorld::command_line(uint64_t pid) {
  return proc::command_line_of(static_cast<pid_t>(pid));
}

std::string ScriptWorld::environment(uint64_t pid, const std::string& name) {
  return proc::environment_of(static_cast<pid_t>(pid), name);
}

uint64_t ScriptWorld::parent(uint64_t pid) {
  return static_cast<uint64_t>(proc::parent_of(static_cast<pid_t>(pid)));
}

// Asked for once: a process that has gone keeps what it had.
script::UserIds ScriptWorld::user_ids(uint64_t pid) {
  const auto [known, is_new] = users_.try_emplace(static_cast<pid_t>(pid));
  if (is_new)
    if (const auto owner = proc::owner_of(known->first))
      known->second = {.uid = owner->first, .gid = owner->second};
  return known->second;
}

// The place in the source is looked up when it is first asked for. Another process may have another file at the address.
script::FiredProbe ScriptWorld::probe(uint64_t number) {
  const auto& sites = handlers_.sites();
  if (number >= sites.size()) return {};
  script::FiredProbe fired = sites[number].fired;
  if (!sites[number].has_hit || !session_) return fired;
  const auto [known, is_new] = places_.try_emplace(number);
  if (is_new)
    for (const NamedFrame& f : session_->names_at(0, sites[number].address))
      if (!f.is_inlined && f.module == basename_of(fired.place.module))
        known->second = {.function = {}, .offset = 0, .module = {}, .file = f.file, .line = f.line};
  fired.place.file = known->second.file;
  fired.place.line = known->second.line;
  return fired;
}

uint64_t ScriptWorld::realtime_ns(uint64_t clock) { return clock + realtime_offset_; }

uint64_t ScriptWorld::target_pid() { return session_ ? static_cast<uint64_t>(session_->single_target()) : 0; }

}  // namespace blip::session
