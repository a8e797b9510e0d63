// SPDX-License-Identifier: MIT
#include "cli/list_file.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "base/fd.h"

namespace blip::cli {
namespace {

constexpr size_t kFirstBytes = 256;

// O_NONBLOCK: a FIFO must not wait for its other end.
std::string first_bytes(const std::string& file) {
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info;
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  char bytes[kFirstBytes];
  const ssize_t got = ::read(fd.get(), bytes, sizeof bytes);
  return std::string(bytes, got > 0 ? static_cast<size_t>(got) : 0);
}

bool is_object_file(std::string_view bytes) {
  return bytes.starts_with(ELFMAG) && bytes.size() > offsetof(Elf64_Ehdr, e_type) &&
         bytes[offsetof(Elf64_Ehdr, e_type)] == ET_REL;
}

std::string interpreter_of(std::string_view bytes) {
  if (!bytes.starts_with("#!")) return {};
  std::string_view line = bytes.substr(0, bytes.find('\n'));
  line.remove_prefix(2);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return std::string(line.substr(0, line.find_first_of(" \t")));
}

// As the shell finds a command.
std::string find_in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  if (!path || name.find('/') != std::string::npos) return {};
  for (std::string_view rest = path; !rest.empty();) {
    std::string candidate = std::string(rest.substr(0, rest.find(':'))) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(rest.find(':'), rest.size() - 1) + 1);
  }
  return {};
}

bool is_number(const std::string& text) {
  return text.find_first_not_of("0123456789") == std::string::npos && !text.empty();
}

}  // namespace

Error explain_file_error(const std::string& file, const Error& error) {
  const auto with = [&](const std::string& hint) {
    return Error(error.kind(), error.message() + ": " + hint, error.errno_value());
  };
  if (error.errno_value() == ENOENT) {
    if (is_number(file)) return with(fmt::format("a process is named with -p {}", file));
    if (const std::string found = find_in_path(file); !found.empty())
      return with(fmt::format("did you mean {}?", found));
    return error;
  }
  if (error.kind() != ErrorKind::kInvalid) return error;
  const std::string bytes = first_bytes(file);
  if (is_object_file(bytes)) return with("an object file, which must be linked before it runs");
  if (const std::string interpreter = interpreter_of(bytes); !interpreter.empty())
    return with(fmt::format("it is a script that {} runs", interpreter));
  return error;
}

}  // namespace blip::cli
