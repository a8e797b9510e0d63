// SPDX-License-Identifier: MIT
#include "base/event_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

// The kernel knows each watched descriptor by the number of its source. Such a number is never used again, so
// that what the kernel had to say of a source that is gone by then finds nobody.

namespace blip {

namespace {

// Sources count from 1.
constexpr uint64_t kAlarm = UINT64_MAX, kBell = UINT64_MAX - 1;
constexpr int kEventsPerWait = 64;  // the others come with the next one

Status watch_fd(int epoll, int fd, uint64_t id, uint32_t events) {
  epoll_event event{.events = events, .data = {.u64 = id}};
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) return Error::from_errno(errno, "epoll_ctl");
  return {};
}

// Empties a counter of the kernel: an eventfd or a timerfd.
void take_count(int fd) {
  uint64_t count;
  (void)!::read(fd, &count, sizeof count);
}

// Rounded up: who wakes too early would have to sleep again.
int to_timeout(std::optional<EventLoop::Clock::duration> at_most) {
  if (!at_most) return -1;
  if (*at_most <= EventLoop::Clock::duration::zero()) return 0;
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(*at_most).count();
  return static_cast<int>(std::min<decltype(ms)>(ms, INT_MAX));
}

}  // namespace

EventLoop::Watch& EventLoop::Watch::operator=(Watch&& other) noexcept {
  if (this == &other) return *this;
  drop();
  loop_ = std::exchange(other.loop_, nullptr);
  id_ = other.id_;
  return *this;
}

void EventLoop::Watch::drop() {
  if (EventLoop* loop = std::exchange(loop_, nullptr)) loop->drop(id_);
}

Result<std::unique_ptr<EventLoop>> EventLoop::create() {
  std::unique_ptr<EventLoop> self(new EventLoop);
  self->epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!self->epoll_) return Error::from_errno(errno, "epoll_create1");
  self->alarm_.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!self->alarm_) return Error::from_errno(errno, "timerfd_create");
  self->bell_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!self->bell_) return Error::from_errno(errno, "eventfd");
  TRY_OK(watch_fd(self->epoll_.get(), self->alarm_.get(), kAlarm, EPOLLIN));
  TRY_OK(watch_fd(self->epoll_.get(), self->bell_.get(), kBell, EPOLLIN));
  return self;
}

Result<EventLoop::Watch> EventLoop::add(int fd, bool once, Callback callback) {
  const uint64_t id = ++last_id_;
  TRY_OK(watch_fd(epoll_.get(), fd, id, EPOLLIN));
  sources_.emplace(id, std::make_shared<Source>(Source{fd, once, std::move(callback)}));
  return Watch(this, id);
}

Result<EventLoop::Watch> EventLoop::on_readable(int fd, Callback callback) {
  return add(fd, false, std::move(callback));
}

// A pidfd stays readable for ever.
Result<EventLoop::Watch> EventLoop::on_end(int pidfd, Callback callback) {
  return add(pidfd, true, std::move(callback));
}

Result<EventLoop::Watch> EventLoop::on_signals(const sigset_t& signals,
                                               std::function<void(const signalfd_siginfo&)> callback) {
  const auto fd = std::make_shared<Fd>(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!*fd) return Error::from_errno(errno, "signalfd");
  return add(fd->get(), false, [fd, callback = std::move(callback)] {
    signalfd_siginfo info;
    if (::read(fd->get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) callback(info);
  });
}

EventLoop::Watch EventLoop::add_timer(Source source) {
  const uint64_t id = ++last_id_;
  auto shared = std::make_shared<Source>(std::move(source));
  timers_.emplace(Due{shared->due, id}, shared);
  sources_.emplace(id, std::move(shared));
  return Watch(this, id);
}

EventLoop::Watch EventLoop::at(Clock::time_point time, Callback callback) {
  return add_timer({.once = true, .callback = std::move(callback), .due = time});
}

EventLoop::Watch EventLoop::every(Clock::duration period, Callback callback) {
  return add_timer({.callback = std::move(callback), .due = Clock::now() + period, .period = period});
}

void EventLoop::drop(uint64_t id) {
  const auto found = sources_.find(id);
  if (found == sources_.end()) return;
  const Source& source = *found->second;
  if (source.fd >= 0)
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, source.fd, nullptr);
  else
    timers_.erase({source.due, id});
  sources_.erase(found);
}

void EventLoop::post(Callback callback) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(callback));
  }
  wake();
}

void EventLoop::wake() {
  const int saved = errno;
  const uint64_t one = 1;
  (void)!::write(bell_.get(), &one, sizeof one);
  errno = saved;
}

// Only if the first timer is another one than before: most rounds of a loop have none.
void EventLoop::set_alarm() {
  std::optional<Clock::time_point> first;
  if (!timers_.empty()) first = timers_.begin()->first.first;
  if (first == alarm_at_) return;
  alarm_at_ = first;
  itimerspec when{};
  if (first) {
    const auto ns = std::max<int64_t>(1, std::chrono::nanoseconds(first->time_since_epoch()).count());
    constexpr int64_t kSecond = 1'000'000'000;
    when.it_value = {.tv_sec = ns / kSecond, .tv_nsec = ns % kSecond};
  }
  ::timerfd_settime(alarm_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

size_t EventLoop::run(uint64_t id) {
  const auto found = sources_.find(id);
  if (found == sources_.end()) return 0;                 // dropped by a callback before it
  const std::shared_ptr<Source> source = found->second;  // it may drop itself
  if (source->once) drop(id);
  source->callback();
  return 1;
}

// Those that callbacks add have to wait for their turn, even if they are due at once.
size_t EventLoop::run_timers() {
  take_count(alarm_.get());
  alarm_at_.reset();  // it has rung
  const Clock::time_point now = Clock::now();
  std::vector<uint64_t> due;
  for (const auto& [when, source] : timers_) {
    if (when.first > now) break;
    due.push_back(when.second);
  }
  size_t called = 0;
  for (const uint64_t id : due) {
    const auto found = sources_.find(id);
    if (found == sources_.end()) continue;
    Source& source = *found->second;
    if (!source.once) {
      auto node = timers_.extract({source.due, id});
      source.due = std::max(source.due + source.period, now);
      node.key() = {source.due, id};
      timers_.insert(std::move(node));
    }
    called += run(id);
  }
  return called;
}

size_t EventLoop::run_posted() {
  take_count(bell_.get());
  std::vector<Callback> posted;
  {
    const std::lock_guard lock(mutex_);
    posted.swap(posted_);
  }
  for (const Callback& callback : posted) callback();
  return posted.size();
}

size_t EventLoop::wait(std::optional<Clock::duration> at_most) {
  set_alarm();
  std::array<epoll_event, kEventsPerWait> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), kEventsPerWait, to_timeout(at_most));
  size_t called = 0;
  for (int i = 0; i < count; ++i) {
    const uint64_t id = events[static_cast<size_t>(i)].data.u64;
    called += id == kAlarm ? run_timers() : id == kBell ? run_posted() : run(id);
  }
  return called;
}

}  // namespace blip
