// SPDX-License-Identifier: MIT
#include "session/symbolize/trusted_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace blip::session {

namespace {

struct Free {
  void operator()(char* text) const { std::free(text); }  // NOLINT: realpath's
};

bool is_trusted(const struct stat& entry) {
  if (entry.st_uid != 0 && entry.st_uid != ::geteuid()) return false;
  const bool others_write = (entry.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return !others_write || (S_ISDIR(entry.st_mode) && (entry.st_mode & S_ISVTX) != 0);
}

// "/a/./b", as debugging information may have it, is no other path than "/a/b".
std::string without_dots(const std::string& path) {
  std::string result;
  for (size_t at = 0; at < path.size();) {
    const size_t next = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, next - at);
    if (!part.empty() && part != ".") result += "/" + part;
    at = next + 1;
  }
  return result;
}

}  // namespace

bool is_ours_alone(const std::string& path) {
  if (path.empty() || path.front() != '/') return false;
  const std::unique_ptr<char, Free> real(::realpath(path.c_str(), nullptr));
  if (!real || without_dots(path) != real.get()) return false;
  std::string part = real.get();
  struct stat entry;
  if (::lstat(part.c_str(), &entry) != 0 || !S_ISREG(entry.st_mode) || !is_trusted(entry)) return false;
  while (part.size() > 1) {
    const size_t slash = part.rfind('/');
    part.resize(slash == 0 ? 1 : slash);
    if (::lstat(part.c_str(), &entry) != 0 || !is_trusted(entry)) return false;
  }
  return true;
}

}  // namespace blip::session
