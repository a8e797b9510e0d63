// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace blip::ctf {

// The directory of one trace. Made before the target is touched, so that a bad path costs nothing.
class TraceDir {
 public:
  // Makes `path` (mode 0700); an existing directory is taken if it is empty and writable.
  static Result<TraceDir> create(const std::string& path);

  int dir_fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }

  // Replaces the file `metadata` as a whole: a reader or a crash never meets half of it. Call before the
  // first packet is written, and again with more classes before the first event of a new class is.
  Status write_metadata(std::string_view text);

  // For a session that did not come about: takes away the metadata, any stream files without content and, if
  // create() made it and nothing else is in it, the directory.
  void abandon();

 private:
  TraceDir(Fd fd, std::string path, bool created)
      : fd_(std::move(fd)), path_(std::move(path)), created_(created) {}

  Fd fd_;
  std::string path_;
  bool created_;
};

// "blip-COMM-PID-YYYYmmdd-HHMMSS" in local time; what is not a letter, digit, '.', '_' or '-' in `comm`
// becomes '_'.
std::string default_name(std::string_view comm, pid_t pid);

// The trace written last in `directory` (itself, or one of its subdirectories).
Result<std::string> newest_trace(const std::string& directory);

}  // namespace blip::ctf
