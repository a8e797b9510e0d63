// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <string>
#include <utility>

namespace blip {

// The kinds that callers branch on. The message has everything else about a failure.
enum class ErrorKind {
  kUsage,        // the user asked for something that makes no sense
  kNotFound,     // no such process, file, symbol
  kPermission,   // the kernel said no
  kBusy,         // somebody else traces the target, or holds it in a state we may not disturb
  kGone,         // the target ended or called exec while we worked
  kTimeout,      // a deadline passed
  kUnsupported,  // this target or site cannot be handled safely
  kInvalid,      // malformed input: an ELF file, a trace, shared memory
  kSystem,       // any other system call that failed
};

// An error that can happen in a correct program. The message says what happened, to what, and, where
// something can be done, what: "attach 4711: already traced by gdb (pid 99): quit it or detach first".
class Error {
 public:
  Error(ErrorKind kind, std::string message, int errno_value = 0)
      : kind_(kind), errno_(errno_value), message_(std::move(message)) {}

  // For a failed system call: appends strerror(errno_value) and maps the usual numbers to a kind.
  static Error from_errno(int errno_value, std::string what);

  ErrorKind kind() const { return kind_; }
  int errno_value() const { return errno_; }
  const std::string& message() const { return message_; }

  // "context: message", for passing up.
  Error with_context(const std::string& context) const {
    return Error(kind_, context + ": " + message_, errno_);
  }

 private:
  ErrorKind kind_;
  int errno_;
  std::string message_;
};

}  // namespace blip
