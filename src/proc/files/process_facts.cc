// SPDX-License-Identifier: MIT
#include "proc/files/process_facts.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "proc/files/proc_directory.h"

namespace blip::proc {

namespace {

std::string read(pid_t pid, const char* file) {
  std::ifstream in(proc_directory(pid) + "/" + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Words with a NUL behind each.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

}  // namespace

std::vector<std::string> command_line_of(pid_t pid) { return words_of(read(pid, "cmdline")); }

std::string environment_of(pid_t pid, const std::string& name) {
  for (const std::string& word : words_of(read(pid, "environ")))
    if (word.size() > name.size() && word[name.size()] == '=' && word.starts_with(name))
      return word.substr(name.size() + 1);
  return {};
}

// "PID (COMM) STATE PPID ...": the name may hold anything.
pid_t parent_of(pid_t pid) {
  constexpr size_t kToParent = 4;  // ") S "
  const std::string stat = read(pid, "stat");
  const size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos || name_end + kToParent >= stat.size()) return 0;
  return static_cast<pid_t>(std::strtol(stat.c_str() + name_end + kToParent, nullptr, 10));
}

std::optional<std::pair<uid_t, gid_t>> owner_of(pid_t pid) {
  struct stat owner;
  if (::stat(proc_directory(pid).c_str(), &owner) != 0) return std::nullopt;
  return std::pair(owner.st_uid, owner.st_gid);
}

}  // namespace blip::proc
