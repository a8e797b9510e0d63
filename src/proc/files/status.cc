// SPDX-License-Identifier: MIT
#include "proc/files/status.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "base/directory.h"
#include "base/fd.h"

namespace blip::proc {

namespace {

constexpr uint64_t bit(int signal) { return uint64_t{1} << (signal - 1); }

// Signals whose default action is to do nothing (signal(7)); SIGCONT's effect on stopped threads comes when
// it is sent.
constexpr uint64_t kIgnoredByDefault = bit(SIGCHLD) | bit(SIGURG) | bit(SIGWINCH) | bit(SIGCONT);

std::string_view next_word(std::string_view& text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    text = {};
    return {};
  }
  text.remove_prefix(begin);
  const size_t end = std::min(text.find_first_of(" \t\n"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

template <typename T>
T number(std::string_view word, int base = 10) {
  T value{};
  std::from_chars(word.data(), word.data() + word.size(), value, base);
  return value;
}

template <typename T, size_t N>
void numbers(std::string_view text, std::array<T, N>& into) {
  for (T& value : into) value = number<T>(next_word(text));
}

std::vector<pid_t> pid_list(std::string_view text) {
  std::vector<pid_t> pids;
  for (auto word = next_word(text); !word.empty(); word = next_word(text))
    pids.push_back(number<pid_t>(word));
  return pids;
}

// "queued/limit"
void take_queue(ProcStatus& status, std::string_view word) {
  const size_t slash = std::min(word.find('/'), word.size());
  status.queued_signals = number<uint64_t>(word.substr(0, slash));
  if (slash < word.size()) status.signal_queue = number<uint64_t>(word.substr(slash + 1));
}

void take_field(ProcStatus& status, std::string_view key, std::string_view value) {
  std::string_view rest = value;
  const std::string_view word = next_word(rest);
  if (key == "Name") status.comm = value.substr(value.empty() ? 0 : 1);
  if (key == "State" && !word.empty()) status.state = word[0];
  if (key == "Tgid") status.tgid = number<pid_t>(word);
  if (key == "PPid") status.ppid = number<pid_t>(word);
  if (key == "TracerPid") status.tracer_pid = number<pid_t>(word);
  if (key == "Uid") numbers(value, status.uids);
  if (key == "Gid") numbers(value, status.gids);
  if (key == "NSpid") status.ns_pids = pid_list(value);
  if (key == "SigQ") take_queue(status, word);
  if (key == "SigPnd") status.pending = number<uint64_t>(word, 16);
  if (key == "ShdPnd") status.shared_pending = number<uint64_t>(word, 16);
  if (key == "SigBlk") status.blocked = number<uint64_t>(word, 16);
  if (key == "SigIgn") status.ignored = number<uint64_t>(word, 16);
  if (key == "SigCgt") status.caught = number<uint64_t>(word, 16);
  if (key == "CapPrm") status.capabilities = number<uint64_t>(word, 16);
  if (key == "Seccomp") status.seccomp_mode = number<int>(word);
}

Error ended(pid_t pid, pid_t tid) {
  if (pid == tid) return Error(ErrorKind::kGone, fmt::format("process {} has ended", pid), ESRCH);
  return Error(ErrorKind::kGone, fmt::format("thread {} of process {} has ended", tid, pid), ESRCH);
}

// A file below /proc/PID/task/TID; its absence means that the thread has ended.
Result<std::string> read_thread_file(pid_t pid, pid_t tid, const char* name) {
  auto text = read_proc_file(fmt::format("/proc/{}/task/{}/{}", pid, tid, name));
  if (text) return text;
  const int error = text.error().errno_value();
  if (error == ENOENT || error == ESRCH) return ended(pid, tid);
  return text;
}

}  // namespace

bool ProcStatus::ignores(int signal) const {
  const uint64_t without_effect = ignored | (kIgnoredByDefault & ~caught);
  return without_effect & bit(signal);
}

uint64_t ProcStatus::interrupting_signals() const {
  const uint64_t without_effect = ignored | (kIgnoredByDefault & ~caught);
  return (pending | shared_pending) & ~blocked & ~without_effect;
}

Result<ProcStatus> parse_status(std::string_view text) {
  ProcStatus status;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos) take_field(status, line.substr(0, colon), line.substr(colon + 1));
  }
  if (status.tgid <= 0) return Error(ErrorKind::kInvalid, "malformed /proc status file");
  return status;
}

Result<ProcStatus> read_status(pid_t pid, pid_t tid) {
  TRY(const std::string text, read_thread_file(pid, tid, "status"));
  return parse_status(text);
}

Result<ProcStat> parse_stat(std::string_view text) {
  const size_t name_end = text.rfind(')');  // the name itself may hold blanks and parentheses
  if (name_end == std::string_view::npos) return Error(ErrorKind::kInvalid, "malformed /proc stat file");
  text.remove_prefix(name_end + 1);
  ProcStat stat;
  for (int field = 3; field <= 22; ++field) {  // numbered as in proc(5)
    const std::string_view word = next_word(text);
    if (word.empty()) return Error(ErrorKind::kInvalid, "malformed /proc stat file");
    if (field == 3) stat.state = word[0];
    if (field == 4) stat.ppid = number<pid_t>(word);
    if (field == 9) stat.flags = number<uint32_t>(word);
    if (field == 20) stat.num_threads = number<uint32_t>(word);
    if (field == 22) stat.start_time = number<uint64_t>(word);
  }
  return stat;
}

Result<ProcStat> read_stat(pid_t pid, pid_t tid) {
  TRY(const std::string text, read_thread_file(pid, tid, "stat"));
  return parse_stat(text);
}

std::chrono::nanoseconds time_without_cpu(pid_t pid, pid_t tid) {
  const auto text =
      read_proc_file(fmt::format("/proc/{}/task/{}/schedstat", pid, tid));  // ran, waited, times
  const size_t second = text ? text->find(' ') : std::string::npos;
  if (second == std::string::npos) return {};
  return std::chrono::nanoseconds(std::strtoll(text->c_str() + second, nullptr, 10));
}

Result<std::vector<pid_t>> list_threads(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/task", pid);
  const auto names = list_directory(path);
  if (!names) return names.error().errno_value() == ENOENT ? ended(pid, pid) : names.error();
  std::vector<pid_t> tids;
  for (const std::string& name : *names)
    if (const pid_t tid = number<pid_t>(name); tid > 0) tids.push_back(tid);
  if (tids.empty()) return ended(pid, pid);
  return tids;
}

namespace {

Result<bool> is_live(pid_t pid, pid_t tid) {
  const auto stat = read_stat(pid, tid);
  if (stat) return stat->state != 'Z' && stat->state != 'X';
  if (stat.error().kind() == ErrorKind::kGone) return false;
  return stat.error();
}

}  // namespace

Result<pid_t> find_live_thread(pid_t pid) {
  TRY(const bool leader, is_live(pid, pid));
  if (leader) return pid;  // no need to list a thousand others
  TRY(const std::vector<pid_t> tids, list_threads(pid));
  for (const pid_t tid : tids) {
    TRY(const bool live, is_live(pid, tid));
    if (live) return tid;
  }
  return ended(pid, pid);
}

Result<std::string> read_proc_file(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return Error::from_errno(errno, "cannot open " + path);
  std::string text;
  char block[16384];
  for (;;) {
    const ssize_t got = ::read(fd.get(), block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno(errno, "cannot read " + path);
    if (got == 0) return text;
    text.append(block, static_cast<size_t>(got));
  }
}

}  // namespace blip::proc
