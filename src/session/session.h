// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"
#include "session/control.h"
#include "session/hooks.h"
#include "session/plan/options.h"
#include "session/process/armed.h"
#include "session/process/summary.h"

namespace blip::session {

// One trace from attach to detach. Whatever happens after start(), the destructor leaves the target as it
// was.
class Session {
 public:
  // Finds the processes, plans, attaches, arms. With Options::wait_for_processes it waits for the first one;
  // `waiting` is called before that. A command is started, but runs no code of its own before run(). On an
  // error nothing is left in any target. `control` outlives the session.
  static Result<std::unique_ptr<Session>> start(const Options& options, Control& control,
                                                const std::function<void()>& waiting = {});
  ~Session();

  const Armed& armed() const;

  // Drains until the last process ends, a limit is reached or `control` is asked to stop; then disarms and
  // finishes the trace. A sink that is full does not put that off: what it could not take comes after
  // `detached`, and what the targets do meanwhile stays in the rings, as far as they have room.
  Summary run(const Hooks& hooks);

  // While a script runs: what is at an address of a traced process, now or when it ended; as FrameNamer.
  const std::vector<NamedFrame>& names_at(pid_t pid, uint64_t address) const;
  // The process of a single -p, or the command; 0: several, or none.
  pid_t single_target() const;

  // Nothing may match now: programs and libraries that come later count too.
  bool may_come_later() const;

  // The command ended, or executed another program, before everything in it could be probed.
  bool command_ended() const;
  // The end of the command, which may be long after run(): what waitpid(2) says. None if there is no command.
  std::optional<int> wait_for_command();

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace blip::session
