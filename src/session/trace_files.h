// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "ctf/metadata.h"
#include "ctf/trace_dir.h"
#include "session/drain/ring_output.h"
#include "session/process/statedump.h"
#include "session/process/traced_process.h"

namespace blip::session {

// The files of a recorded trace: its metadata, and the streams of each process.
class TraceFiles {
 public:
  // `context` outlives it. Its classes get those that tell which files are mapped.
  explicit TraceFiles(TraceContext& context);

  // Makes the directory. `first` names the trace; `of_one`: the trace has only its events, as far as is known.
  Status open(const proc::Process& first, bool of_one);
  // Removes what open() and others made, for a trace that could not be started.
  void abandon();
  // Empty before open().
  std::string path() const { return dir_ ? dir_->path() : std::string(); }

  // From now on, the events of the process go to streams of their own. Nothing happens before open().
  Status add(TracedProcess& process);
  // The streams of a trace that tells who comes and goes are of several processes. Returns the place of its
  // stream about that, which numbers it.
  Result<TraceOutput> add_lives();
  // Again, with all classes that there are now. Nothing happens before open().
  Status write_metadata();

 private:
  Status begin_several();

  TraceContext& context_;
  std::optional<ctf::TraceDir> dir_;
  ctf::Uuid uuid_ = ctf::random_uuid();
  ctf::TraceInfo info_;
  Statedump statedump_;
  uint64_t streams_ = 0;
};

}  // namespace blip::session
