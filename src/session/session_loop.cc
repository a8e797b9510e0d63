// SPDX-License-Identifier: MIT
// Draining, and noticing who comes and goes.
#include <fmt/core.h>
#include <poll.h>

#include <algorithm>

#include "base/stop.h"
#include "session/session_impl.h"

namespace blip::session {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kExecPause{2};   // --follow-exec: how late an exec is noticed
constexpr milliseconds kReadyPause{1};  // until the new program can be traced

// How long to sleep between rounds: short while much comes in.
milliseconds pause_after(uint64_t bytes, uint64_t ring_size) {
  if (bytes == 0) return milliseconds(20);
  return bytes > ring_size / 4 ? milliseconds(1) : milliseconds(5);
}

}  // namespace

uint64_t Session::Impl::drain() {
  if (merge && merge->is_held_up()) {
    context.limit.taken += merge->show(context.limit.most - context.limit.taken);
    return 0;
  }
  const ctf::ClockPair start = context.clock.sample();
  uint64_t bytes = 0;
  for (const auto& process : live) bytes = std::max(bytes, process->events().drain(start));
  settle_lives(start.ns);
  if (merge) context.limit.taken += merge->show(context.limit.most - context.limit.taken);
  return bytes;
}

// What any process may still bring is not older.
uint64_t Session::Impl::heard_until(uint64_t now_ns) const {
  uint64_t until = now_ns;
  for (const auto& process : live) until = std::min(until, process->events().complete_until());
  return until;
}

// Also by events that only wait for their reader.
bool Session::Impl::limit_is_reached() const {
  const uint64_t waiting = merge && merge->is_held_up() ? merge->pending() : 0;
  return waiting >= context.limit.most - context.limit.taken;
}

// Sleeps, but not after a process has ended.
bool Session::Impl::wait(milliseconds pause) {
  std::vector<pollfd> events;
  for (const auto& process : live)
    events.push_back({.fd = process->target().poll_fd(), .events = POLLIN, .revents = 0});
  for (const auto& process : live)
    events.push_back({.fd = process->libraries_fd(), .events = POLLIN, .revents = 0});
  if (family)
    for (int fd : family->pidfds()) events.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  return ::poll(events.data(), events.size(), static_cast<int>(pause.count())) > 0;
}

void Session::Impl::hear_of_children(TracedProcess& process) {
  for (int32_t vpid : process.events().take_heard_of()) {
    process.tell_child(vpid);
    if (lifecycle) heard_of.push_back({process.process().pid(), vpid});
  }
}

void Session::Impl::retire(TracedProcess& process) {
  process.events().finish();
  hear_of_children(process);
  if (const auto& error = process.events().output_error(); error && !output_error) output_error = error;
  add_totals(process);
}

// Ends of processes; a value if none is left.
std::optional<End> Session::Impl::drop_gone(const Hooks& hooks) {
  std::optional<End> last;
  for (auto p = live.begin(); p != live.end();) {
    last = (*p)->target().gone();
    if (!last || (live.size() == 1 && !options.wait_for_processes && !may_come_later())) {
      ++p;
      continue;
    }
    const char* how = *last == End::kTargetExec ? "has called exec" : "has gone";
    if (hooks.notice) hooks.notice(fmt::format("process {} {}", (*p)->process().pid(), how));
    retire(**p);
    p = live.erase(p);
    last.reset();  // of the one that was dropped, not of those left
  }
  if (options.wait_for_processes || may_come_later()) return std::nullopt;
  if (live.empty()) return End::kTargetExit;
  return live.size() == 1 ? last : std::nullopt;
}

void Session::Impl::look_for_more(const Hooks& hooks) {
  if (!options.wait_for_processes || Clock::now() - last_look < kLookForProcesses) return;
  last_look = Clock::now();
  if (const auto added = add_by_name(); !added || *added == 0) return;  // the next look may find some
  const size_t before = live.size();
  const uint64_t probes = armed.probes;
  if (auto status = arm_planned(); !status && !output_error) output_error = status.error();
  if (live.size() > before && hooks.notice)
    hooks.notice(
        fmt::format("armed {} probes in process {}", armed.probes - probes, live.back()->process().pid()));
}

void Session::Impl::look_at_libraries(const Hooks& hooks) {
  const LibraryHooks told{.notice =
                              [&](const std::string& text) {
                                if (hooks.notice) hooks.notice(text);
                              },
                          .before_events = [&] { return dir ? write_metadata() : Status(); }};
  for (const auto& process : live) process->look_at_libraries(told);
}

void Session::Impl::refresh_ranges(const Hooks& hooks) {
  for (const auto& process : live) {
    const auto change = process->refresh_ranges();
    if (change && options.verbose && hooks.notice) hooks.notice(*change);
  }
}

End Session::Impl::loop(const Hooks& hooks) {
  const auto begin = Clock::now();
  for (;;) {
    const uint64_t bytes = drain();
    for (const auto& process : live) hear_of_children(*process);
    refresh_ranges(hooks);
    if (hooks.end_of_round) hooks.end_of_round();
    if (limit_is_reached()) return End::kMaxEvents;
    for (const auto& process : live)
      if (process->events().output_error()) return End::kOutputFailed;
    if (stop::requested()) return End::kStopped;
    milliseconds pause = pause_after(bytes, live.empty() ? 0 : live.front()->events().ring_size());
    if (options.follow_exec) pause = std::min(pause, executed.empty() ? kExecPause : kReadyPause);
    if (merge && merge->is_held_up()) pause = milliseconds(0);  // it has waited a little already
    if (options.duration) {
      const auto left = std::chrono::duration_cast<milliseconds>(*options.duration - (Clock::now() - begin));
      if (left.count() <= 0) return End::kDuration;
      pause = std::min(pause, left);
    }
    wait(pause);
    follow(hooks);
    if (const auto end = drop_gone(hooks)) return *end;
    look_at_libraries(hooks);
    look_for_more(hooks);
    if (output_error) return End::kOutputFailed;
  }
}

}  // namespace blip::session
