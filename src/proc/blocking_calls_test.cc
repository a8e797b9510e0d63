// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <list>
#include <string>

#include "proc/test_caller.h"
#include "proc/test_child.h"
#include "proc/test_filter.h"
#include "proc/tracer_thread.h"

// Every way to wait that a ptrace stop could disturb: of these calls eleven return EINTR after a plain stop.

namespace blip::proc::test {
namespace {

constexpr long kTimeoutMs = 2000;  // longer than a busy machine takes to disturb all of them

// A system call that waits, and what it returns when nothing but its own timeout ends it.
struct BlockingCall {
  const char* name;
  long (*run)();
  bool ends;        // within a few seconds; otherwise it waits for good
  long result = 0;  // if it ends
  int error = 0;    // errno if result is -1
};

timespec relative() { return {kTimeoutMs / 1000, kTimeoutMs % 1000 * 1'000'000}; }
timeval relative_micro() { return {kTimeoutMs / 1000, kTimeoutMs % 1000 * 1000}; }

timespec absolute() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  time.tv_sec += kTimeoutMs / 1000;
  return time;
}

// Files shared with a process that holds a lock on them.
int unlinked_file() {
  char name[] = "/tmp/blip-proc-test-XXXXXX";
  const int fd = ::mkstemp(name);
  ::unlink(name);
  return fd;
}

int silent_pipe() {
  int ends[2];
  return ::pipe(ends) == 0 ? ends[0] : -1;
}

int silent_socket() {
  int ends[2];
  return ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 ? ends[0] : -1;
}

int listening_socket() {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t));
  ::listen(fd, 1);
  return fd;
}

void set_receive_timeout(int fd) {
  const timeval time = relative_micro();
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
}

int silent_epoll() {
  const int fd = ::epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  ::epoll_ctl(fd, EPOLL_CTL_ADD, silent_pipe(), &event);
  return fd;
}

sigset_t blocked_usr1() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return set;
}

long read_byte(int fd) {
  char bytes[4096];
  return ::read(fd, bytes, sizeof bytes);
}

long wait_on_futex(int operation, const timespec* time) {
  static int word = 1;
  return ::syscall(SYS_futex, &word, operation, 1, time, nullptr, ~0u);
}

long write_until_full(int fd) {
  static char block[65536];
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  while (::write(fd, block, sizeof block) > 0) {
  }
  ::fcntl(fd, F_SETFL, 0);
  return ::write(fd, block, sizeof block);
}

// Runs the operation in a forked process that then keeps what it got.
template <typename Hold>
void held_by_other(Hold hold) {
  int ready[2];
  if (::pipe(ready) != 0) return;
  if (::fork() == 0) {
    hold();
    (void)!::write(ready[1], "", 1);
    for (;;) ::pause();
  }
  read_byte(ready[0]);
}

int new_semaphore() { return ::semget(IPC_PRIVATE, 1, 0600); }

struct RemoveSemaphore {
  int id;
  ~RemoveSemaphore() { ::semctl(id, 0, IPC_RMID); }
};

fd_set set_of(int fd) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(fd, &set);
  return set;
}

constexpr bool kEnds = true;
constexpr bool kWaits = false;

const BlockingCall kCalls[] = {
    {"read_pipe", [] { return read_byte(silent_pipe()); }, kWaits},
    {"write_pipe",
     [] {
       int ends[2];
       return ::pipe(ends) == 0 ? write_until_full(ends[1]) : -1;
     },
     kWaits},
    {"recv", [] { return read_byte(silent_socket()); }, kWaits},
    {"recv_timeout",
     [] {
       const int fd = silent_socket();
       set_receive_timeout(fd);
       return read_byte(fd);
     },
     kEnds, -1, EAGAIN},
    {"send",
     [] {
       int ends[2];
       return ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 ? write_until_full(ends[0]) : -1;
     },
     kWaits},
    {"accept", [] { return long{::accept(listening_socket(), nullptr, nullptr)}; }, kWaits},
    {"accept_timeout",
     [] {
       const int fd = listening_socket();
       set_receive_timeout(fd);
       return long{::accept(fd, nullptr, nullptr)};
     },
     kEnds, -1, EAGAIN},
    {"poll",
     [] {
       pollfd entry{silent_pipe(), POLLIN, 0};
       return long{::poll(&entry, 1, kTimeoutMs)};
     },
     kEnds},
    {"ppoll",
     [] {
       pollfd entry{silent_pipe(), POLLIN, 0};
       const timespec time = relative();
       return long{::ppoll(&entry, 1, &time, nullptr)};
     },
     kEnds},
    {"select",
     [] {
       const int fd = silent_pipe();
       fd_set set = set_of(fd);
       timeval time = relative_micro();
       return long{::select(fd + 1, &set, nullptr, nullptr, &time)};
     },
     kEnds},
    {"pselect",
     [] {
       const int fd = silent_pipe();
       fd_set set = set_of(fd);
       const timespec time = relative();
       return long{::pselect(fd + 1, &set, nullptr, nullptr, &time, nullptr)};
     },
     kEnds},
    {"epoll_wait",
     [] {
       epoll_event event;
       return long{::epoll_wait(silent_epoll(), &event, 1, -1)};
     },
     kWaits},
    {"epoll_wait_timeout",
     [] {
       epoll_event event;
       return long{::epoll_wait(silent_epoll(), &event, 1, kTimeoutMs)};
     },
     kEnds},
    {"epoll_pwait2",
     [] {
       epoll_event event;
       const timespec time = relative();
       return ::syscall(SYS_epoll_pwait2, silent_epoll(), &event, 1, &time, nullptr, 8);
     },
     kEnds},
    {"nanosleep",
     [] {
       const timespec time = relative();
       return long{::nanosleep(&time, nullptr)};
     },
     kEnds},
    {"clock_nanosleep_absolute",
     [] {
       const timespec time = absolute();
       return long{::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr)};
     },
     kEnds},
    {"futex", [] { return wait_on_futex(FUTEX_WAIT, nullptr); }, kWaits},
    {"futex_timeout",
     [] {
       const timespec time = relative();
       return wait_on_futex(FUTEX_WAIT, &time);
     },
     kEnds, -1, ETIMEDOUT},
    {"futex_bitset_absolute",
     [] {
       const timespec time = absolute();
       return wait_on_futex(FUTEX_WAIT_BITSET, &time);
     },
     kEnds, -1, ETIMEDOUT},
    {"sem_wait",
     [] {
       sem_t semaphore;
       ::sem_init(&semaphore, 0, 0);
       return long{::sem_wait(&semaphore)};
     },
     kWaits},
    {"sigtimedwait",
     [] {
       const sigset_t set = blocked_usr1();
       const timespec time = relative();
       return long{::sigtimedwait(&set, nullptr, &time)};
     },
     kEnds, -1, EAGAIN},
    {"sigwaitinfo",
     [] {
       const sigset_t set = blocked_usr1();
       return long{::sigwaitinfo(&set, nullptr)};
     },
     kWaits},
    {"pause", [] { return long{::pause()}; }, kWaits},
    {"sigsuspend",
     [] {
       sigset_t set;
       ::sigemptyset(&set);
       return long{::sigsuspend(&set)};
     },
     kWaits},
    {"semop",
     [] {
       const RemoveSemaphore semaphore{new_semaphore()};
       sembuf down{0, -1, 0};
       return long{::semop(semaphore.id, &down, 1)};
     },
     kWaits},
    {"semtimedop",
     [] {
       const RemoveSemaphore semaphore{new_semaphore()};
       sembuf down{0, -1, 0};
       const timespec time = relative();
       return long{::semtimedop(semaphore.id, &down, 1, &time)};
     },
     kEnds, -1, EAGAIN},
    {"msgrcv",
     [] {
       struct {
         long type;
         char text[8];
       } message;
       const int queue = ::msgget(IPC_PRIVATE, 0600);
       return long{::msgrcv(queue, &message, sizeof message.text, 0, 0)};
     },
     kWaits},
    {"mq_receive",
     [] {
       const std::string name = "/blip-proc-test-" + std::to_string(::getpid());
       mq_attr attributes{};
       attributes.mq_maxmsg = 2;
       attributes.mq_msgsize = 64;
       const mqd_t queue = ::mq_open(name.c_str(), O_CREAT | O_RDONLY, 0600, &attributes);
       ::mq_unlink(name.c_str());
       char text[64];
       return long{::mq_receive(queue, text, sizeof text, nullptr)};
     },
     kWaits},
    {"wait4",
     [] {
       held_by_other([] {});
       return long{::waitpid(-1, nullptr, 0)};
     },
     kWaits},
    {"flock",
     [] {
       const int fd = unlinked_file();
       const std::string again = "/proc/self/fd/" + std::to_string(fd);
       held_by_other([&] { ::flock(::open(again.c_str(), O_RDWR), LOCK_EX); });
       return long{::flock(fd, LOCK_EX)};
     },
     kWaits},
    {"fcntl_setlkw",
     [] {
       const int fd = unlinked_file();
       struct flock lock {};
       lock.l_type = F_WRLCK;
       held_by_other([&] { ::fcntl(fd, F_SETLKW, &lock); });
       return long{::fcntl(fd, F_SETLKW, &lock)};
     },
     kWaits},
    {"open_fifo",
     [] {
       const std::string name = "/tmp/blip-proc-test-fifo-" + std::to_string(::getpid());
       if (::mkfifo(name.c_str(), 0600) != 0) return -1L;
       const long result = ::open(name.c_str(), O_RDONLY);
       return result;
     },
     kWaits},
    {"inotify", [] { return read_byte(::inotify_init()); }, kWaits},
    {"eventfd", [] { return read_byte(::eventfd(0, 0)); }, kWaits},
    {"timerfd",
     [] {
       const int fd = ::timerfd_create(CLOCK_MONOTONIC, 0);
       itimerspec time{};
       time.it_value = relative();
       ::timerfd_settime(fd, 0, &time, nullptr);
       return read_byte(fd);
     },
     kEnds, 8},
    {"signalfd",
     [] {
       const sigset_t set = blocked_usr1();
       return read_byte(::signalfd(-1, &set, 0));
     },
     kWaits},
    {"io_getevents",
     [] {
       aio_context_t context = 0;
       io_event event;
       ::syscall(SYS_io_setup, 4, &context);
       return ::syscall(SYS_io_getevents, context, 1, 1, &event, nullptr);
     },
     kWaits},
    {"io_uring_enter",
     [] {
       io_uring_params parameters{};
       const long fd = ::syscall(SYS_io_uring_setup, 4, &parameters);
       if (fd < 0) return long{::pause()};  // not built in or forbidden here
       return ::syscall(SYS_io_uring_enter, fd, 0, 1, IORING_ENTER_GETEVENTS, nullptr, 8);
     },
     kWaits},
};

constexpr uid_t kUser = 1234;

void become_user() {
  if (::setresgid(kUser, kUser, kUser) != 0 || ::setresuid(kUser, kUser, kUser) != 0) ::_exit(1);
  ::prctl(PR_SET_DUMPABLE, 1);
}

enum class Filter { kNone, kForbidsRestarts, kForbidsRestartsOfUser };

// Result and errno in one number.
void run_and_tell(const BlockingCall& call, Filter filter, Child& self) {
  (void)::unshare(CLONE_NEWIPC);  // queues and semaphores end with the child, where that is permitted
  if (filter == Filter::kForbidsRestartsOfUser) become_user();
  if (filter != Filter::kNone && !forbid_restarts(kTimeoutMs)) ::_exit(1);
  self.tell(0);
  errno = 0;
  const long result = call.run();
  self.tell(result == -1 ? -1000 - errno : result);
}

struct Waiting {
  Waiting(const BlockingCall& blocking, Filter filter)
      : call(&blocking), child([&](Child& self) { run_and_tell(blocking, filter, self); }) {}

  const BlockingCall* call;
  Child child;
};

void start_all(std::list<Waiting>& children, Filter filter) {
  for (const BlockingCall& call : kCalls) children.emplace_back(call, filter);
  for (Waiting& waiting : children) {
    ASSERT_TRUE(waiting.child.hear());
    ASSERT_TRUE(waiting.child.wait_for_state('S')) << waiting.call->name;
  }
  nap(100);
}

void expect_undisturbed(Waiting& waiting) {
  const BlockingCall& call = *waiting.call;
  SCOPED_TRACE(call.name);
  const auto result = waiting.child.hear(call.ends ? 20000 : 0);
  EXPECT_EQ(result.has_value(), call.ends);
  if (call.ends) {
    EXPECT_EQ(result.value_or(0), call.result == -1 ? -1000 - call.error : call.result);
  }
  ::unlink(("/tmp/blip-proc-test-fifo-" + std::to_string(waiting.child.pid())).c_str());
}

enum class Disturb { kStop, kRemoteCalls };

void disturb(pid_t pid, Disturb how) {
  const Status status = on_tracer_thread([&]() -> Status {
    if (how == Disturb::kRemoteCalls) return with_caller(pid, map_and_unmap);
    TRY(const Process process, Process::open(pid));
    TRY_OK(Attachment::stop_all(process));
    return {};
  });
  EXPECT_TRUE(status) << status.error().message();
}

void disturb(std::list<Waiting>& children, Disturb how) {
  for (Waiting& waiting : children) {
    SCOPED_TRACE(waiting.call->name);
    for (int i = 0; i < 2; ++i) disturb(waiting.child.pid(), how);
  }
}

void disturb_all(Disturb how, Filter filter = Filter::kNone) {
  std::list<Waiting> children;
  start_all(children, filter);
  disturb(children, how);
  nap(300);
  for (Waiting& waiting : children) expect_undisturbed(waiting);
}

TEST(BlockingCalls, are_not_disturbed_by_a_stop) { disturb_all(Disturb::kStop); }

TEST(BlockingCalls, are_not_disturbed_by_remote_calls) { disturb_all(Disturb::kRemoteCalls); }

TEST(BlockingCalls, are_not_disturbed_behind_a_filter_by_a_stop) {
  disturb_all(Disturb::kStop, Filter::kForbidsRestarts);
}

TEST(BlockingCalls, are_not_disturbed_behind_a_filter_by_remote_calls) {
  disturb_all(Disturb::kRemoteCalls, Filter::kForbidsRestarts);
}

// A user who may not suspend the filter makes the calls again as they were.
TEST(BlockingCalls, are_not_disturbed_behind_a_filter_by_an_ordinary_user) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root";
  for (const Disturb how : {Disturb::kStop, Disturb::kRemoteCalls}) {
    std::list<Waiting> children;
    start_all(children, Filter::kForbidsRestartsOfUser);
    Child user([&](Child& self) {
      become_user();
      disturb(children, how);
      self.tell(testing::Test::HasFailure() ? 1 : 0);
    });
    EXPECT_EQ(user.hear(60000), 0);
    for (Waiting& waiting : children) expect_undisturbed(waiting);
  }
}

}  // namespace
}  // namespace blip::proc::test
