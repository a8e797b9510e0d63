// SPDX-License-Identifier: MIT
#include "session/symbolize/debuginfod.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/fd.h"
#include "base/progress.h"

namespace blip::session {

namespace {

constexpr std::chrono::seconds kPatience(60);
constexpr size_t kLongestPath = 4096;

// A child that does not outlive this.
class Child {
 public:
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Child() = default;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Its stdout goes to `out`; it says nothing else.
  Status start(const char* program, const char* first, const char* second, int out) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    char* const argv[] = {const_cast<char*>(program), const_cast<char*>(first), const_cast<char*>(second),
                          nullptr};
    const int error = ::posix_spawnp(&pid_, program, &actions, nullptr, argv, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error == 0) return {};
    pid_ = 0;
    return Error::from_errno(error, program);
  }

 private:
  pid_t pid_ = 0;
};

// Returns all that the child writes until it closes its end. Ctrl-C reaches the child too, which also ends
// it.
Result<std::string> read_answer(const Fd& from) {
  const auto stop = std::chrono::steady_clock::now() + kPatience;
  std::string text;
  while (text.size() < kLongestPath) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(stop - std::chrono::steady_clock::now());
    if (left.count() <= 0)
      return Error(ErrorKind::kNotFound, fmt::format("no answer in {} s", kPatience.count()));
    pollfd ready{.fd = from.get(), .events = POLLIN, .revents = 0};
    const int polled = ::poll(&ready, 1, static_cast<int>(left.count()));
    if (polled < 0 && errno == EINTR) return Error(ErrorKind::kNotFound, "interrupted");
    if (polled <= 0) continue;
    char bytes[512];
    const ssize_t got = ::read(from.get(), bytes, sizeof bytes);
    if (got <= 0) break;
    text.append(bytes, static_cast<size_t>(got));
  }
  return text.substr(0, text.find('\n'));
}

}  // namespace

bool may_ask_debuginfod() {
  const char* wanted = std::getenv("BLIP_DEBUGINFOD");
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  return wanted && std::string_view(wanted) == "1" && servers && *servers != '\0';
}

Result<elf::ElfFile> ask_debuginfod(const std::string& build_id, const std::string& name, StopRequest* stop) {
  const progress::Step step(fmt::format("asking debuginfod for the debugging information of {}", name));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error::from_errno(errno, "pipe");
  const Fd from(ends[0]);
  Fd to(ends[1]);
  const StopRequest::Vital vital(stop);
  Child child;
  TRY_OK(child.start("debuginfod-find", "debuginfo", build_id.c_str(), to.get()));
  to = Fd();
  TRY(const std::string path, read_answer(from));
  if (path.empty()) return Error(ErrorKind::kNotFound, "debuginfod has none");
  TRY(elf::ElfFile file, elf::ElfFile::open(path));
  if (file.build_id() != build_id)
    return Error(ErrorKind::kInvalid, path + " is of another build (the build-ids differ)");
  return file;
}

}  // namespace blip::session
