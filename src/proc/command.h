// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/addr.h"
#include "base/fd.h"
#include "base/result.h"
#include "proc/command_file.h"
#include "proc/files/signal_state.h"

namespace blip::proc {

// A program started by blip, held before its first instruction until go(). It has blip's descriptors
// (without those marked close-on-exec), environment, process group and terminal, and the signal state blip
// was started with: to the program it is as if a shell had started it.
//
// Held means stopped by SIGSTOP and not traced (held_run.h). Until go() the program dies when the thread that
// called start() does, and with this object; after go() it lives on its own, and only wait() knows about it.
class Command {
 public:
  // Words, the first one the command's name. On an error nothing was run.
  static Result<Command> start(const std::vector<std::string>& words,
                               const SignalState& signals = SignalState::inherited());
  Command(Command&& other) noexcept;
  Command& operator=(Command&&) = delete;
  ~Command();

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }
  const CommandFile& file() const { return file_; }

  enum class RunEnd { kThere, kEnded, kExec };
  // Runs the held program until it comes to the address and `arrived` agrees, and holds it there, before that
  // instruction. Or until it has executed another program, which is held before its first instruction, or
  // has ended.
  Result<RunEnd> run_to(TargetAddr addr, const std::function<Result<bool>()>& arrived);
  // Lets all but the first thread of a held program run until they wait, or for a moment: a thread that was
  // caught in a probe leaves it. They are held again afterwards.
  Status let_others_run(std::chrono::milliseconds moment);
  // Lets it run, free of blip. Fine also if a signal has ended it meanwhile.
  Status go();

  // Until it has ended: what waitpid(2) says about it. Asks the kernel once, also if called again.
  int wait();
  // The same without waiting.
  std::optional<int> poll();
  // Safe in a signal handler, and after the end of the program.
  void send(int signal) const;

 private:
  Command() = default;

  Status launch(const std::vector<std::string>& words, const SignalState& signals);
  Status run_to_exec(int errors);
  Status change_death_signal(int signal, bool then_continue);
  void end();
  bool has_exited(int flags) const;
  std::optional<int> reap(int flags);

  pid_t pid_ = 0;
  Fd pidfd_;
  CommandFile file_;
  bool held_ = false;
  bool trap_ignored_ = false;  // SIGTRAP, by inheritance: a breakpoint resets that
  std::optional<int> status_;
};

}  // namespace blip::proc
