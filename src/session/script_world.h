// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "script/blocks/world.h"
#include "session/run/engine.h"
#include "session/session.h"
#include "session/watch/thread_names.h"

namespace blip::session {

// What scripts learn of a session and its processes. Where there is no session, or not yet, little is known.
class ScriptWorld final : public script::World {
 public:
  explicit ScriptWorld(const Handlers& handlers);

  void know(const Engine& engine) { engine_ = &engine; }
  void know(const Session& session) { session_ = &session; }
  // To be called often: names of threads, and the time of day, are asked for anew.
  void refresh();

  std::vector<script::CodeName> names_of(uint64_t pid, uint64_t address) override;
  std::vector<uint64_t> stack(uint64_t number) override;
  uint64_t process_of_stack(uint64_t number) override;
  std::string thread_name(uint64_t pid, uint64_t tid) override;
  std::vector<std::string> command_line(uint64_t pid) override;
  std::string environment(uint64_t pid, const std::string& name) override;
  uint64_t parent(uint64_t pid) override;
  script::UserIds user_ids(uint64_t pid) override;
  script::FiredProbe probe(uint64_t number) override;
  uint64_t realtime_ns(uint64_t clock) override;
  uint64_t target_pid() override;

 private:
  const Handlers& handlers_;
  const Engine* engine_ = nullptr;
  const Session* session_ = nullptr;
  uint64_t realtime_offset_ = 0;
  std::map<pid_t, ThreadNames> threads_;
  std::map<pid_t, script::UserIds> users_;
  std::map<uint64_t, script::CodeName> places_;  // of sites, with their source lines
};

}  // namespace blip::session
