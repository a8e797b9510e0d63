// SPDX-License-Identifier: MIT
#include "ctf/trace_dir.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "base/directory.h"

namespace blip::ctf {

namespace {

// Readers take every file for a stream except `metadata` and those that begin with a dot.
constexpr const char* kMetadata = "metadata";
constexpr const char* kTemporary = ".metadata.new";
constexpr std::string_view kFirstLine = "/* CTF 1.8 */";

Error cannot_make(int errno_value, const std::string& path) {
  if (errno_value == ENOENT)
    return Error(ErrorKind::kNotFound, path + ": the directory above it does not exist: make it first",
                 ENOENT);
  return Error::from_errno(errno_value, path + ": cannot make the directory for the trace");
}

Status check_usable(int dir_fd, const std::string& path) {
  const auto names = list_directory(".", dir_fd);
  if (!names) return Error::from_errno(names.error().errno_value(), path + ": cannot read the directory");
  if (!names->empty())
    return Error(ErrorKind::kUsage,
                 path + ": the directory is not empty: give a new or an empty one with -o");
  if (::faccessat(dir_fd, ".", W_OK | X_OK, AT_EACCESS) != 0)
    return Error::from_errno(errno, path + ": cannot write into the directory");
  return {};
}

Status write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error::from_errno(errno, "cannot write the metadata of the trace");
    text.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

// When the trace in `path` was written; nothing if there is none.
std::optional<timespec> trace_time(const std::string& path) {
  const Fd fd(::open((path + "/" + kMetadata).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info;
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  char start[kFirstLine.size()];
  const ssize_t n = ::read(fd.get(), start, sizeof start);
  if (n < 0 || std::string_view(start, size_t(n)) != kFirstLine) return std::nullopt;
  return info.st_mtim;
}

}  // namespace

Result<TraceDir> TraceDir::create(const std::string& path) {
  if (path.empty())
    return Error(ErrorKind::kUsage, "the name of the output directory is empty: give one with -o");
  const bool created = ::mkdir(path.c_str(), 0700) == 0;
  if (!created && errno != EEXIST) return cannot_make(errno, path);
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd && errno == ENOTDIR)
    return Error(ErrorKind::kUsage, path + ": is not a directory: give a new or an empty one with -o",
                 ENOTDIR);
  if (!fd) return Error::from_errno(errno, path + ": cannot open the directory");
  TRY_OK(check_usable(fd.get(), path));
  return TraceDir(std::move(fd), path, created);
}

Status TraceDir::write_metadata(std::string_view text) {
  {
    const Fd file(::openat(dir_fd(), kTemporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return Error::from_errno(errno, path_ + ": cannot make the metadata of the trace");
    if (auto status = write_all(file.get(), text); !status) {
      ::unlinkat(dir_fd(), kTemporary, 0);
      return std::move(status).with_context(path_);
    }
  }
  if (::renameat(dir_fd(), kTemporary, dir_fd(), kMetadata) == 0) return {};
  const int why = errno;
  ::unlinkat(dir_fd(), kTemporary, 0);
  return Error::from_errno(why, path_ + ": cannot put the metadata in place");
}

void TraceDir::abandon() {
  const auto names = list_directory(".", dir_fd());
  if (!names) return;
  for (const std::string& name : *names) {
    struct stat info;
    const bool empty_file = ::fstatat(dir_fd(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                            S_ISREG(info.st_mode) && info.st_size == 0;
    if (empty_file || name == kMetadata) ::unlinkat(dir_fd(), name.c_str(), 0);
  }
  if (created_) ::rmdir(path_.c_str());
}

std::string default_name(std::string_view comm, pid_t pid) {
  std::string name = "blip-";
  for (const char c : comm) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    name += plain ? c : '_';
  }
  const time_t now = ::time(nullptr);
  tm local{};
  ::localtime_r(&now, &local);
  char stamp[32];
  ::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
  return name + "-" + std::to_string(pid) + "-" + stamp;
}

Result<std::string> newest_trace(const std::string& directory) {
  if (trace_time(directory)) return directory;
  const Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return Error::from_errno(errno, directory);
  TRY(const auto names, list_directory(".", fd.get()).with_context(directory));
  std::optional<std::tuple<time_t, long, std::string>> newest;
  for (const std::string& name : names) {
    const auto time = trace_time(directory + "/" + name);
    if (!time) continue;
    std::tuple candidate(time->tv_sec, time->tv_nsec, name);
    if (!newest || candidate > *newest) newest = std::move(candidate);
  }
  if (!newest)
    return Error(ErrorKind::kNotFound,
                 directory + ": no trace here: give its directory, or make one with blip record");
  return directory == "." ? std::get<2>(*newest) : directory + "/" + std::get<2>(*newest);
}

}  // namespace blip::ctf
