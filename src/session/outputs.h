// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "base/result.h"
#include "session/live_show.h"
#include "session/plan/purpose.h"
#include "session/script_run.h"
#include "session/trace_files.h"

namespace blip::session {

// Where the events of a trace go, and the first failure to bring them there. The processes are the ones that bring
// them: it outlives them.
class Outputs {
 public:
  explicit Outputs(TraceContext& context) {
    if (writes_files(context.options)) files_.emplace(context);
  }

  // Null: the trace is not recorded.
  TraceFiles* files() { return files_ ? &*files_ : nullptr; }
  // Null: nobody looks on.
  LiveShow* show() { return show_ ? &*show_ : nullptr; }
  LiveShow& begin_show(ShowEvent sink, std::function<bool()> is_full, TraceContext& context,
                       const Roster::Processes& live) {
    return show_.emplace(std::move(sink), std::move(is_full), context, live);
  }

  // Null: no script is run.
  ScriptRun* script() { return script_ ? &*script_ : nullptr; }
  const ScriptRun* script() const { return script_ ? &*script_ : nullptr; }
  ScriptRun& begin_script(Engine& engine) { return script_.emplace(engine); }

  // From now on, the events of the process go there.
  Status add(TracedProcess& process) {
    if (show_) show_->add(process);
    if (script_) {
      script_->add(process);
      TRY_OK(script_->sample(process.process()));
    }
    return files_ ? files_->add(process) : Status();
  }

  // The first error counts.
  void note(const Status& status) {
    if (!status && !error_) error_ = status.error();
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  std::optional<TraceFiles> files_;
  std::optional<LiveShow> show_;
  std::optional<ScriptRun> script_;
  std::optional<Error> error_;
};

}  // namespace blip::session
