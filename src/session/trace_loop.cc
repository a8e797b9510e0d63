// SPDX-License-Identifier: MIT
#include "session/trace_loop.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/milliseconds.h"
#include "session/round_pause.h"

namespace blip::session {

using std::chrono::milliseconds;

End TraceLoop::run() {
  begin_ = Clock::now();
  for (;;)
    if (const auto end = round()) return *end;
}

std::optional<End> TraceLoop::round() {
  const uint64_t bytes = drain();
  for (const auto& process : p_.roster.live()) p_.family.hear_of_children(*process);
  refresh_ranges();
  if (hooks_.end_of_round) hooks_.end_of_round();
  if (limit_is_reached()) return End::kMaxEvents;
  for (const auto& process : p_.roster.live())
    if (process->events().output_error()) return End::kOutputFailed;
  if (const ScriptRun* script = p_.outputs.script(); script && script->is_over()) return End::kScript;
  if (p_.context.stop.requested()) return End::kStopped;
  if (const auto left = time_left(); left && left->count() <= 0) return End::kDuration;
  wait(pause_after(bytes));
  return look_around();
}

std::optional<End> TraceLoop::look_around() {
  p_.outputs.note(p_.family.look());
  p_.executed.arm_ready(hooks_.notice);
  if (const auto end = drop_gone()) return end;
  look_at_libraries();
  look_for_more();
  if (p_.outputs.error()) return End::kOutputFailed;
  return std::nullopt;
}

uint64_t TraceLoop::drain() {
  LiveShow* const show = p_.outputs.show();
  if (show && show->is_held_up()) {
    show->show();
    return 0;
  }
  ScriptRun* const script = p_.outputs.script();
  if (script && script->is_held_up() && !script->go_on()) return 0;
  const ctf::ClockPair start = p_.context.clock.sample();
  if (script) script->drain_samples();
  uint64_t bytes = 0;
  for (const auto& process : p_.roster.live()) bytes = std::max(bytes, process->events().drain(start));
  p_.family.settle(heard_until(start.ns));
  if (show) show->show();
  if (script) script->run_until(std::min(heard_until(start.ns), p_.family.complete_until()));
  return bytes;
}

// What any process may still bring is not older.
uint64_t TraceLoop::heard_until(uint64_t now_ns) const {
  uint64_t until = now_ns;
  for (const auto& process : p_.roster.live()) until = std::min(until, process->events().complete_until());
  return until;
}

// Also by events that only wait for their reader.
bool TraceLoop::limit_is_reached() const {
  const LiveShow* const show = p_.outputs.show();
  const EventLimit& limit = p_.context.limit;
  return (show ? show->held_up() : 0) >= limit.most - limit.taken;
}

std::optional<milliseconds> TraceLoop::time_left() const {
  const auto& duration = p_.context.options.duration;
  if (!duration) return std::nullopt;
  return std::chrono::duration_cast<milliseconds>(*duration - (Clock::now() - begin_));
}

milliseconds TraceLoop::pause_after(uint64_t bytes) const {
  const Roster::Processes& live = p_.roster.live();
  const LiveShow* const show = p_.outputs.show();
  const ScriptRun* const script = p_.outputs.script();
  return round_pause({.bytes = bytes,
                      .ring_size = live.empty() ? 0 : live.front()->events().ring_size(),
                      .follows_exec = p_.context.options.follow_exec,
                      .program_comes = !p_.executed.empty(),
                      .held_up = (show && show->is_held_up()) || (script && script->is_held_up()),
                      .left = time_left(),
                      .until_timer = script ? script->time_until_due() : std::nullopt});
}

// Sleeps, but not after a process has ended, a library has come, or somebody wants to stop.
void TraceLoop::wait(milliseconds pause) {
  wakers_.assign(1, {0, p_.context.stop.fd()});
  for (const auto& process : p_.roster.live()) {
    const pid_t pid = process->process().pid();
    wakers_.push_back({pid, process->target().poll_fd()});
    wakers_.push_back({pid, process->libraries_fd()});
  }
  p_.family.add_wakers(wakers_);
  wake_ups_.watch(wakers_);
  loop_.wait(pause);
}

void TraceLoop::retire(TracedProcess& process) {
  process.events().finish();
  p_.family.hear_of_children(process);
  if (const auto& error = process.events().output_error()) p_.outputs.note(*error);
  p_.totals.add(process);
}

bool TraceLoop::more_may_come() const {
  return p_.context.options.wait_for_processes || p_.family.may_come_later();
}

// A script without a probe in its targets lasts as long as they do.
bool TraceLoop::is_script_waiting() const {
  const auto& unarmed = p_.roster.unarmed();
  return p_.outputs.script() &&
         std::any_of(unarmed.begin(), unarmed.end(), [](const proc::Process& p) { return p.alive(); });
}

// Processes that have ended; a value if none is left.
std::optional<End> TraceLoop::drop_gone() {
  Roster::Processes& live = p_.roster.live();
  std::optional<End> last;
  for (auto p = live.begin(); p != live.end();) {
    last = (*p)->target().gone();
    if (!last || (live.size() == 1 && !more_may_come())) {
      ++p;
      continue;
    }
    const char* how = *last == End::kTargetExec ? "has called exec" : "has gone";
    notice(fmt::format("process {} {}", (*p)->process().pid(), how));
    retire(**p);
    if (ScriptRun* script = p_.outputs.script()) script->keep_names(**p);
    p = live.erase(p);
    last.reset();  // of the one that was dropped, not of those left
  }
  if (more_may_come()) return std::nullopt;
  if (live.empty() && is_script_waiting()) return std::nullopt;
  if (live.empty()) return End::kTargetExit;
  return live.size() == 1 ? last : std::nullopt;
}

void TraceLoop::look_for_more() {
  if (!p_.finder.find_more()) return;
  const Roster::Processes& live = p_.roster.live();
  const size_t before = live.size();
  const uint64_t probes = p_.armer.probes();
  p_.outputs.note(p_.armer.arm_planned());
  if (live.size() > before)
    notice(fmt::format("armed {} probes in process {}", p_.armer.probes() - probes,
                       live.back()->process().pid()));
}

void TraceLoop::look_at_libraries() {
  const LibraryHooks told{.notice = [&](const std::string& text) { notice(text); },
                          .before_events =
                              [&] {
                                TraceFiles* const files = p_.outputs.files();
                                return files ? files->write_metadata() : Status();
                              }};
  for (const auto& process : p_.roster.live()) process->look_at_libraries(told);
}

void TraceLoop::refresh_ranges() {
  for (const auto& process : p_.roster.live()) {
    const auto change = process->refresh_ranges();
    if (change && p_.context.options.verbose) notice(*change);
  }
}

void TraceLoop::finish(Summary& summary) {
  leave_all(summary);
  if (hooks_.detached) hooks_.detached();
  for (const auto& process : p_.roster.live()) retire(*process);
  p_.outputs.note(p_.family.finish());
  const bool others_count = p_.outputs.show() || p_.outputs.script();  // what they show
  if (!others_count) p_.totals.add_events(p_.family.events());
  show_rest();
  if (ScriptRun* script = p_.outputs.script()) script->end(p_.totals);
  p_.totals.tell(summary, p_.outputs.error());
}

void TraceLoop::leave_all(Summary& summary) {
  const auto begin = Clock::now();
  for (const auto& process : p_.roster.live()) process->disarm(summary);
  summary.detach_ms = to_ms(Clock::now() - begin);
}

void TraceLoop::show_rest() {
  LiveShow* const show = p_.outputs.show();
  if (!show) return;
  p_.totals.add_events(show->show_rest());
  if (show->late() == 0) return;
  p_.totals.add_warning(
      fmt::format("{} events are not in the order of time: threads were held up in the middle of them for "
                  "longer than blip waits",
                  show->late()));
}

}  // namespace blip::session
