// SPDX-License-Identifier: MIT
#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace blip {

// One thread that waits for many things at once: descriptors, processes, signals, times, and work that other
// threads hand over. All functions but post() and wake() belong to the thread that calls wait(). Callbacks run
// inside wait(); they may add and drop watches, their own too, but must not call wait().
class EventLoop {
 public:
  using Callback = std::function<void()>;
  using Clock = std::chrono::steady_clock;

  // Ends what it stands for when it goes. The loop, and the descriptor that is watched, outlive it.
  class Watch {
   public:
    Watch() = default;
    Watch(Watch&& other) noexcept : loop_(std::exchange(other.loop_, nullptr)), id_(other.id_) {}
    Watch& operator=(Watch&& other) noexcept;
    ~Watch() { drop(); }

    // True if there is something that may still call back.
    explicit operator bool() const { return loop_ && loop_->knows(id_); }
    void drop();

   private:
    friend class EventLoop;
    Watch(EventLoop* loop, uint64_t id) : loop_(loop), id_(id) {}

    EventLoop* loop_ = nullptr;
    uint64_t id_ = 0;
  };

  static Result<std::unique_ptr<EventLoop>> create();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Calls back in each wait() that finds something to read.
  Result<Watch> on_readable(int fd, Callback callback);
  // Calls back once, when the process of the pidfd has ended.
  Result<Watch> on_end(int pidfd, Callback callback);
  // Calls back for each of these signals. They must be blocked in all threads, before and as long as the watch
  // lives: else their usual action takes them.
  Result<Watch> on_signals(const sigset_t& signals, std::function<void(const signalfd_siginfo&)> callback);
  // Calls back once, not before that time.
  Watch at(Clock::time_point time, Callback callback);
  // Calls back again and again. A loop that was held up does not make up for what it has missed.
  Watch every(Clock::duration period, Callback callback);

  // Any thread: the callback runs in the next wait(), in the order of the calls. What has not run when the loop
  // goes never runs.
  void post(Callback callback);
  // Any thread, and signal handlers: ends the wait() under way, or else the next one.
  void wake();

  // Sleeps until something has happened or, if given, that time has passed; then runs the callbacks of what
  // has happened. Returns how many. A signal handler that runs ends the sleep too.
  size_t wait(std::optional<Clock::duration> at_most = std::nullopt);

 private:
  struct Source {
    int fd = -1;  // of a timer none
    bool once = false;
    Callback callback;
    Clock::time_point due{};
    Clock::duration period{};  // 0: once
  };
  using Due = std::pair<Clock::time_point, uint64_t>;

  EventLoop() = default;

  bool knows(uint64_t id) const { return sources_.contains(id); }
  Result<Watch> add(int fd, bool once, Callback callback);
  Watch add_timer(Source source);
  void drop(uint64_t id);
  void set_alarm();
  size_t run(uint64_t id);
  size_t run_timers();
  size_t run_posted();

  Fd epoll_, alarm_, bell_;
  std::map<uint64_t, std::shared_ptr<Source>> sources_;  // by a number that is never used again
  std::map<Due, std::shared_ptr<Source>> timers_;
  std::optional<Clock::time_point> alarm_at_;  // that alarm_ is set for
  uint64_t last_id_ = 0;
  std::mutex mutex_;
  std::vector<Callback> posted_;  // by any thread
};

}  // namespace blip
