// SPDX-License-Identifier: MIT
#include "proc/command.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "proc/attachment.h"
#include "proc/held_run.h"
#include "proc/remote_call.h"
#include "proc/tracer_thread.h"

// From fork to go(), and what becomes of the child if blip is killed there:
//
//   fork                     not its child any more: exits by itself
//   PR_SET_PDEATHSIG         killed with blip, from here on
//   SIGSTOP to itself        held
//   [traced: exec]           stopped at PTRACE_EVENT_EXEC, before the first instruction; held again
//   arm, run_to, arm         by those who need a stopped target; each ends with the child held
//   [traced, EXITKILL:
//     PR_SET_PDEATHSIG 0     killed with blip all the same
//     SIGCONT ]              runs when the tracer lets go, and survives it
//
// There is no state in which the child is stopped and nobody would end or continue it.

namespace blip::proc {

namespace {

constexpr int kCannotExec = 127;
constexpr useconds_t kStopPause = 200;  // microseconds
constexpr uint64_t kScratchBelowStack = 2048;
constexpr size_t kKernelSigsetSize = 8;

struct Execution {
  const char* path;
  char* const* words;
  const SignalState& signals;
  pid_t parent;
  int errors;  // descriptor that tells why exec failed
};

// In the child, with all signals blocked.
[[noreturn]] void execute(const Execution& execution) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != execution.parent) ::_exit(kCannotExec);
  execution.signals.apply();
  ::kill(::getpid(), SIGSTOP);
  ::execve(execution.path, execution.words, environ);
  const int error = errno;
  (void)!::write(execution.errors, &error, sizeof error);
  ::_exit(kCannotExec);
}

// A script without a #! line is given to the shell, as shells do.
std::vector<std::string> words_for_exec(std::vector<std::string> words, const CommandFile& file) {
  if (!file.interpreter_of_script || file.has_interpreter_line) return words;
  words.front() = file.path;
  words.insert(words.begin(), *file.interpreter_of_script);
  return words;
}

const std::string& path_for_exec(const CommandFile& file) {
  const bool needs_shell = file.interpreter_of_script && !file.has_interpreter_line;
  return needs_shell ? *file.interpreter_of_script : file.path;
}

Error explain_exec(const std::string& path, int error) {
  if (error == ENOENT)
    return Error(ErrorKind::kNotFound,
                 fmt::format("cannot run {}: the loader (PT_INTERP) that it asks for is not there", path),
                 error);
  if (error == ENOEXEC)
    return Error(ErrorKind::kUnsupported, fmt::format("cannot run {}: not a program for this machine", path),
                 error);
  return Error::from_errno(error, fmt::format("cannot run {}", path));
}

bool is_exit(const siginfo_t& info) {
  return info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
}

class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// struct kernel_sigaction of the kernel's rt_sigaction(2).
struct KernelSigaction {
  uint64_t handler = 0;
  uint64_t flags = 0;
  uint64_t restorer = 0;
  uint64_t mask = 0;
};

// Below the stack, whose contents nobody can rely on.
Status ignore_trap_again(RemoteCaller& caller, Memory& memory, const Registers& registers) {
  KernelSigaction ignore;
  ignore.handler = reinterpret_cast<uint64_t>(SIG_IGN);
  const TargetAddr where((registers.sp() - kScratchBelowStack) & ~uint64_t{15});
  TRY_OK(memory.write(where, {reinterpret_cast<const uint8_t*>(&ignore), sizeof ignore}));
  TRY_OK(caller.call(SYS_rt_sigaction, SIGTRAP, where.value, 0, kKernelSigsetSize));
  return {};
}

}  // namespace

Result<Command> Command::start(const std::vector<std::string>& words, const SignalState& signals) {
  if (words.empty()) return Error(ErrorKind::kUsage, "no command given");
  Command command;
  TRY(command.file_, CommandFile::find(words.front()));
  command.trap_ignored_ = signals.ignored & (uint64_t{1} << (SIGTRAP - 1));
  TRY_OK(command.launch(words, signals));
  return command;
}

Command::Command(Command&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      pidfd_(std::move(other.pidfd_)),
      file_(std::move(other.file_)),
      held_(std::exchange(other.held_, false)),
      trap_ignored_(other.trap_ignored_),
      status_(other.status_) {}

Command::~Command() {
  if (held_) end();
}

void Command::end() {
  held_ = false;
  send(SIGKILL);
  (void)wait();
}

Status Command::launch(const std::vector<std::string>& words, const SignalState& signals) {
  // blip may have been started with SIGCHLD ignored: then nobody learns how a child has ended.
  ::signal(SIGCHLD, SIG_DFL);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error::from_errno(errno, "cannot make a pipe");
  const Fd told(ends[0]);
  Fd tell(ends[1]);
  std::vector<std::string> all = words_for_exec(words, file_);
  std::vector<char*> pointers;
  for (std::string& word : all) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const Execution execution{path_for_exec(file_).c_str(), pointers.data(), signals, ::getpid(), tell.get()};
  {
    const AllSignalsBlocked blocked;
    pid_ = ::fork();
    if (pid_ == 0) execute(execution);
  }
  if (pid_ < 0) return Error::from_errno(errno, "cannot make a process");
  tell.reset();
  held_ = true;
  pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (!pidfd_) return Error::from_errno(errno, fmt::format("cannot open a handle on process {}", pid_));
  return on_tracer_thread([&] { return run_to_exec(told.get()); });
}

Status Command::run_to_exec(int errors) {
  const Error ended(ErrorKind::kGone, fmt::format("{} was ended by a signal before it began", file_.path));
  if (wait_for_child(pid_).kind == StopKind::kEnded) return ended;
  TRY(HeldRun run, HeldRun::begin(pid_));
  TRY(const StopEvent event, run.resume());
  if (event.kind == StopKind::kExec) {
    TRY_OK(run.hold());
    // exec of a set-uid file has taken the death signal back.
    return file_.privileged ? change_death_signal(SIGKILL, false) : Status();
  }
  int error = 0;
  if (::read(errors, &error, sizeof error) == sizeof error) return explain_exec(file_.path, error);
  return ended;
}

Result<Command::RunEnd> Command::run_to(TargetAddr addr, const std::function<Result<bool>()>& arrived) {
  return on_tracer_thread([&]() -> Result<RunEnd> {
    TRY(HeldRun run, HeldRun::begin(pid_));
    TRY_OK(run.break_at(addr));
    TRY_OK(run.let_group_run());
    for (;;) {
      TRY(const StopEvent event, run.resume());
      if (event.kind == StopKind::kEnded) {
        held_ = false;
        return RunEnd::kEnded;
      }
      if (event.kind == StopKind::kInterrupt) {
        TRY(const bool there, arrived());
        if (!there) continue;
      }
      TRY_OK(run.hold());
      return event.kind == StopKind::kExec ? RunEnd::kExec : RunEnd::kThere;
    }
  });
}

Status Command::let_others_run(std::chrono::milliseconds moment) {
  return on_tracer_thread([&]() -> Status {
    TRY(const std::vector<pid_t> tids, list_threads(pid_));
    for (const pid_t tid : tids)
      if (tid != pid_) TRY_OK(run_held_thread(pid_, tid, moment));
    return {};
  });
}

Status Command::go() {
  Status status = on_tracer_thread([&] { return change_death_signal(0, true); });
  // A signal that came before has ended it: it would have done so without blip.
  if (!status && (status_ || has_exited(WNOHANG))) status = Status();
  if (status) held_ = false;
  return status;
}

// While its tracer, a thread of blip, is just ending the child may show a last stop, asked for or not.
bool Command::has_exited(int flags) const {
  for (;;) {
    siginfo_t info{};
    const int got = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | flags);
    if (got != 0 && errno != EINTR) return true;
    if (got == 0 && info.si_pid == 0) return false;
    if (got == 0 && is_exit(info)) return true;
    if (got == 0) ::usleep(kStopPause);
  }
}

// In the held child, which is killed if blip dies meanwhile.
Status Command::change_death_signal(int signal, bool then_continue) {
  TRY(const Process process, Process::open(pid_));
  TRY(Memory memory, Memory::open(pid_));
  TRY(const std::vector<Map> maps, read_maps(pid_));
  TRY(StubSite site, find_stub_site(memory, maps));
  TRY(Attachment attachment, Attachment::stop_all(process));
  // The death signal belongs to a thread; the one that forked is the first of its process.
  TRY(RemoteCaller caller, RemoteCaller::create_in(pid_, attachment, memory, std::move(site)));
  for (const Thread& thread : attachment.threads())
    if (::ptrace(PTRACE_SETOPTIONS, thread.tid, nullptr, kTraceOptions | PTRACE_O_EXITKILL) != 0)
      return Error::from_errno(errno, fmt::format("cannot trace process {}", pid_));
  // A seccomp filter, if there is one, has let the child make this call before exec.
  caller.permit(SYS_prctl);
  TRY_OK(caller.call(SYS_prctl, PR_SET_PDEATHSIG, signal, 0, 0, 0));
  if (!then_continue) return {};
  if (trap_ignored_) TRY_OK(ignore_trap_again(caller, memory, caller.registers()));
  caller.finish();
  send(SIGCONT);
  return {};
}

std::optional<int> Command::reap(int flags) {
  if (status_ || !has_exited(flags)) return status_;
  int status = kCannotExec << 8;
  (void)::waitpid(pid_, &status, 0);
  held_ = false;
  return status_ = status;
}

int Command::wait() { return *reap(0); }
std::optional<int> Command::poll() { return reap(WNOHANG); }

void Command::send(int signal) const {
  (void)::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0);
}

}  // namespace blip::proc
