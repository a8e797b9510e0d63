// SPDX-License-Identifier: MIT
#include "proc/files/process.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <limits.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "machine/elf.h"
#include "proc/files/permission.h"
#include "proc/files/thread_names.h"

namespace blip::proc {

namespace {

Error no_such_process(pid_t pid) {
  return Error(ErrorKind::kNotFound, fmt::format("no such process: {}", pid), ESRCH);
}

Error unsupported(std::string text) { return Error(ErrorKind::kUnsupported, std::move(text)); }

Status refuse_blip_and_ancestors(pid_t pid, Init init) {
  if (pid == ::getpid()) return unsupported(fmt::format("process {} is blip itself", pid));
  if (pid == 1 && init == Init::kAllow) return {};
  for (pid_t ancestor = ::getppid(); ancestor > 0;) {
    if (ancestor == pid && pid == 1)
      return unsupported(
          "process 1 is init, from which all others descend: the machine, or the container, ends with it. "
          "Root may trace it with --allow-init");
    if (ancestor == pid)
      return unsupported(fmt::format("process {} is an ancestor of blip: run blip from elsewhere", pid));
    const auto status = read_status(ancestor, ancestor);
    if (!status) break;
    ancestor = status->ppid;
  }
  return {};
}

// /proc/PID also exists for the ids of threads, though it is not listed.
Result<ProcStatus> read_process_status(pid_t pid) {
  auto text = read_proc_file(fmt::format("/proc/{}/status", pid));
  if (!text && text.error().errno_value() != ENOENT && text.error().errno_value() != ESRCH)
    return text.error();
  if (!text) return no_such_process(pid);
  TRY(ProcStatus status, parse_status(*text));
  if (status.tgid != pid)
    return Error(ErrorKind::kUsage,
                 fmt::format("{} is a thread of process {}: use -p {}", pid, status.tgid, status.tgid));
  return status;
}

Status refuse_zombie(pid_t pid) {
  const auto live = find_live_thread(pid);
  if (live) return {};
  if (live.error().kind() != ErrorKind::kGone) return live.error();
  return Error(ErrorKind::kGone, fmt::format("process {} has ended (zombie)", pid), ESRCH);
}

Status refuse_traced(pid_t pid, pid_t tid) {
  TRY(const ProcStatus status, read_status(pid, tid));
  if (status.tracer_pid == 0) return {};
  const std::string tracer = read_comm(status.tracer_pid, status.tracer_pid);
  return Error(ErrorKind::kBusy,
               fmt::format("process {}: already traced by {} (pid {}): detach it first", pid,
                           tracer.empty() ? "another program" : tracer, status.tracer_pid));
}

// Opening the memory takes the same permission as PTRACE_SEIZE and does nothing to the process.
Status check_permission(pid_t pid, pid_t tid, const ProcStatus& status) {
  const Fd memory(::open(fmt::format("/proc/{}/task/{}/mem", pid, tid).c_str(), O_RDWR | O_CLOEXEC));
  if (memory) return {};
  const int error = errno;
  if (error == EACCES || error == EPERM) return explain_denial(gather_access_facts(pid, status));
  if (error == ENOENT || error == ESRCH) return no_such_process(pid);
  return Error::from_errno(error, fmt::format("cannot open the memory of process {}", pid));
}

Result<std::string> read_exe_link(pid_t pid, pid_t tid) {
  char path[PATH_MAX];
  const ssize_t length = ::readlink(fmt::format("/proc/{}/task/{}/exe", pid, tid).c_str(), path, sizeof path);
  if (length < 0) return Error::from_errno(errno, fmt::format("cannot read /proc/{}/exe", pid));
  return std::string(path, static_cast<size_t>(length));
}

Status refuse_foreign_machine(pid_t pid, pid_t tid, const std::string& path) {
  const Fd exe(::open(fmt::format("/proc/{}/task/{}/exe", pid, tid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!exe && errno == EACCES) return unreadable_executable(pid, path);
  if (!exe) return Error::from_errno(errno, fmt::format("cannot open /proc/{}/exe", pid));
  Elf64_Ehdr header{};
  if (::pread(exe.get(), &header, sizeof header, 0) < EI_NIDENT)
    return unsupported(fmt::format("process {}: the executable is not an ELF file", pid));
  if (header.e_ident[EI_CLASS] == ELFCLASS32)
    return unsupported(fmt::format("process {}: 32-bit programs are not supported", pid));
  if (header.e_machine != machine::kElfMachine)
    return unsupported(
        fmt::format("process {}: only {} programs are supported", pid, machine::kElfMachineName));
  return {};
}

// Valgrind runs a translation of the program: jumps in the program's text would do nothing, or half of it.
Status refuse_valgrind(pid_t pid, const std::string& path) {
  if (path.find("/valgrind/") == std::string::npos || path.find("-amd64-linux") == std::string::npos)
    return {};
  return unsupported(fmt::format(
      "process {} runs under valgrind, which executes a translation of it: probes in its code would not be "
      "reached. Run it without valgrind",
      pid));
}

// The highest seccomp mode of all threads; each thread has its own. The kernel kills a thread in strict mode
// for reading the cycle counter, and for any system call but four.
Result<int> seccomp_mode_of_all(pid_t pid) {
  constexpr int kStrict = 1;
  int mode = 0;
  TRY(const std::vector<pid_t> threads, list_threads(pid));
  for (pid_t tid : threads) {
    const auto status = read_status(pid, tid);
    if (!status) continue;  // it has ended
    if (status->seccomp_mode == kStrict)
      return unsupported(fmt::format(
          "process {}: thread {} is in strict seccomp mode, where a probe would get it killed", pid, tid));
    mode = std::max(mode, status->seccomp_mode);
  }
  return mode;
}

}  // namespace

Result<Process> Process::open(pid_t pid, Init init) {
  if (pid <= 0)
    return Error(ErrorKind::kUsage, fmt::format("{} is not a process id: it must be above 0", pid));
  TRY_OK(read_process_status(pid));
  Process process;
  process.pid_ = pid;
  process.pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.pidfd_) {
    if (errno == ESRCH || errno == EINVAL) return no_such_process(pid);
    return Error::from_errno(errno, fmt::format("cannot open a handle on process {}", pid));
  }
  TRY(const ProcStatus status, read_process_status(pid));  // from here on the pid cannot change its meaning
  TRY_OK(refuse_zombie(pid));
  TRY(const pid_t tid, find_live_thread(pid));
  TRY(const ProcStat stat, read_stat(pid, pid));
  if (stat.kernel_thread()) return unsupported(fmt::format("process {} is a kernel thread", pid));
  TRY_OK(refuse_blip_and_ancestors(pid, init));
  TRY_OK(refuse_traced(pid, tid));
  TRY_OK(check_permission(pid, tid, status));
  TRY(process.exe_path_, read_exe_link(pid, tid));
  TRY_OK(refuse_foreign_machine(pid, tid, process.exe_path_));
  TRY_OK(refuse_valgrind(pid, process.exe_path_));
  TRY(process.seccomp_mode_, seccomp_mode_of_all(pid));
  process.start_time_ = stat.start_time;
  process.comm_ = read_comm(pid, pid);
  process.ns_pid_ = status.ns_pids.empty() ? pid : status.ns_pids.back();
  if (!process.alive()) return no_such_process(pid);
  return process;
}

bool Process::alive() const {
  pollfd entry{pidfd_.get(), POLLIN, 0};
  int ready;
  do ready = ::poll(&entry, 1, 0);
  while (ready < 0 && errno == EINTR);
  return ready <= 0;
}

}  // namespace blip::proc
