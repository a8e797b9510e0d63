// SPDX-License-Identifier: MIT
#include "proc/command_file.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "machine/elf.h"

namespace blip::proc {

namespace {

constexpr const char* kDefaultPath = "/bin:/usr/bin";  // execvp(3), where PATH is not set
constexpr const char* kShell = "/bin/sh";
constexpr size_t kHeadSize = 256;  // BINPRM_BUF_SIZE: how much of a script the kernel looks at
constexpr int kMaxNesting = 5;     // interpreters that are scripts themselves

std::vector<std::string> candidates(const std::string& name) {
  if (name.find('/') != std::string::npos) return {name};
  const char* variable = ::getenv("PATH");
  std::string_view path = variable ? variable : kDefaultPath;
  std::vector<std::string> found;
  for (;;) {
    const size_t colon = path.find(':');
    const std::string folder(path.substr(0, colon));
    found.push_back(folder.empty() ? name : folder + "/" + name);
    if (colon == std::string_view::npos) return found;
    path.remove_prefix(colon + 1);
  }
}

Status can_run(const std::string& path) {
  struct stat st;
  if (::stat(path.c_str(), &st) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      return Error(ErrorKind::kNotFound, fmt::format("no such command: {}", path), ENOENT);
    return Error::from_errno(errno, fmt::format("cannot run {}", path));
  }
  if (S_ISDIR(st.st_mode))
    return Error(ErrorKind::kInvalid, fmt::format("cannot run {}: it is a directory", path), EISDIR);
  if (!S_ISREG(st.st_mode))
    return Error(ErrorKind::kInvalid, fmt::format("cannot run {}: it is not a regular file", path), EACCES);
  if (::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) != 0)
    return Error(ErrorKind::kPermission,
                 fmt::format("cannot run {}: the file is not executable (chmod +x makes it so)", path),
                 EACCES);
  return {};
}

// Returns the first candidate that can be run. If all fail, the failure that says most is returned: that of a
// file that exists.
Result<std::string> look_up(const std::string& name) {
  std::optional<Error> best;
  for (const std::string& path : candidates(name)) {
    const Status status = can_run(path);
    if (status) return path;
    if (!best || best->kind() == ErrorKind::kNotFound) best = status.error();
  }
  if (best && best->kind() != ErrorKind::kNotFound) return *best;
  return Error(ErrorKind::kNotFound,
               name.find('/') == std::string::npos
                   ? fmt::format("no such command: '{}' is in no folder of PATH", name)
                   : fmt::format("no such command: {}", name),
               ENOENT);
}

Result<std::string> read_head(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && (errno == EACCES || errno == EPERM))
    return Error(
        ErrorKind::kPermission,
        fmt::format("{} may be run but not read, and blip must read what it traces: run blip as root", path),
        errno);
  if (!file) return Error::from_errno(errno, fmt::format("cannot open {}", path));
  std::string head(kHeadSize, '\0');
  const ssize_t size = ::pread(file.get(), head.data(), head.size(), 0);
  if (size < 0) return Error::from_errno(errno, fmt::format("cannot read {}", path));
  head.resize(static_cast<size_t>(size));
  return head;
}

Status check_machine(const std::string& path, const std::string& head) {
  Elf64_Ehdr header{};
  std::memcpy(&header, head.data(), std::min(head.size(), sizeof header));
  if (header.e_ident[EI_CLASS] == ELFCLASS32)
    return Error(ErrorKind::kUnsupported, fmt::format("{}: 32-bit programs are not supported", path));
  if (header.e_machine != machine::kElfMachine)
    return Error(ErrorKind::kUnsupported,
                 fmt::format("{}: only {} programs are supported", path, machine::kElfMachineName));
  return {};
}

std::string interpreter_in(std::string_view head) {
  std::string_view line = head.substr(2, head.find('\n') - 2);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return std::string(line.substr(0, line.find_first_of(" \t\r")));
}

bool is_text(std::string_view head) {
  return head.substr(0, head.find('\n')).find('\0') == std::string_view::npos;
}

Status check_interpreter(const std::string& script, const std::string& interpreter) {
  if (interpreter.empty())
    return Error(ErrorKind::kInvalid, fmt::format("script {}: its #! line names no interpreter", script));
  return can_run(interpreter).with_context(fmt::format("script {}: its interpreter", script));
}

bool is_privileged(const std::string& path) {
  struct stat st;
  if (::stat(path.c_str(), &st) != 0) return false;
  if ((st.st_mode & S_ISUID) && st.st_uid != ::geteuid()) return true;
  if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != ::getegid()) return true;
  return ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

}  // namespace

Result<CommandFile> CommandFile::find(const std::string& name) {
  if (name.empty()) return Error(ErrorKind::kUsage, "the command's name is empty", ENOENT);
  CommandFile file;
  TRY(file.path, look_up(name));
  std::string program = file.path;
  for (int depth = 0; depth < kMaxNesting; ++depth) {
    TRY(const std::string head, read_head(program));
    if (head.compare(0, SELFMAG, ELFMAG) == 0) {
      TRY_OK(check_machine(program, head));
      file.privileged = is_privileged(program);
      file.loses_privileges = file.privileged && ::geteuid() != 0;
      return file;
    }
    if (head.compare(0, 2, "#!") == 0) {
      const std::string interpreter = interpreter_in(head);
      TRY_OK(check_interpreter(program, interpreter));
      if (depth == 0) file.has_interpreter_line = true;
      program = interpreter;
    } else if (depth == 0 && is_text(head)) {
      program = kShell;
    } else {
      return Error(ErrorKind::kUnsupported,
                   fmt::format("{} is neither a program for this machine nor a script", program), ENOEXEC);
    }
    file.interpreter_of_script = program;
  }
  return Error(ErrorKind::kUnsupported,
               fmt::format("script {}: its interpreters are scripts, too deep", file.path), ELOOP);
}

}  // namespace blip::proc
