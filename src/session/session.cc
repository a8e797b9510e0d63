// SPDX-License-Identifier: MIT
#include "session/session.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/stop.h"
#include "session/drain/live_sink.h"
#include "session/plan/environment.h"
#include "session/session_impl.h"

namespace blip::session {

// The command runs from here on.
Status Session::Impl::go() {
  if (!spawn) return {};
  if (spawn->early) {
    if (merge) spawn->early->events().add_sink(std::make_unique<LiveSink>(*merge));
    retire(*spawn->early);
  }
  return spawn->command.go();
}

Summary Session::Impl::run(const Hooks& hooks) {
  if (hooks.sink)
    merge.emplace(
        hooks.sink, context.classes.classes(), [this](uint64_t ip) { return place_of(ip); },
        [this](int32_t vpid, uint64_t address, bool is_return) -> const std::vector<NamedFrame>& {
          return frames_of(vpid, address, is_return);
        },
        [this](const ctf::EventClass& c, uint64_t ip) { return event_name(c, ip); });
  if (merge) merge->stop_when(hooks.is_full);
  for (const auto& process : live)
    if (merge) process->events().add_sink(std::make_unique<LiveSink>(*merge));
  if (lifecycle && merge) lifecycle->show_to(*merge);
  watch_all();
  if (family) look_at_family();
  Summary summary;
  if (const Status gone = go(); !gone) {
    summary.warnings.push_back("the command could not be let go: " + gone.error().message());
    summary.failed = true;
  } else {
    summary.end = spawn && spawn->ended ? *spawn->ended : loop(hooks);
  }
  finish(summary, hooks);
  summary.events = totals.events;
  summary.discarded = totals.discarded;
  summary.skipped = totals.skipped;
  summary.buffer_advice = buffer_advice();
  if (totals.malformed != 0)
    summary.warnings.push_back(
        fmt::format("{} places in the buffers made no sense and were cut", totals.malformed));
  if (options.mode == Mode::kCount && !options.latencies) count(summary);
  tell_calls(summary);
  if (dir) summary.output_dir = dir->path();
  summary.consumer_cpu_s = cpu_seconds();
  return summary;
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::start(const Options& options,
                                                const std::function<void()>& waiting) {
  auto impl = std::make_unique<Impl>(options);
  TRY_OK(impl->start(waiting));
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

const Armed& Session::armed() const { return impl_->armed; }
Summary Session::run(const Hooks& hooks) { return impl_->run(hooks); }
bool Session::command_ended() const { return impl_->spawn && impl_->spawn->ended; }
std::optional<int> Session::wait_for_command() {
  if (!impl_->spawn) return std::nullopt;
  return impl_->spawn->command.wait();
}
bool Session::may_come_later() const {
  return impl_->may_come_later() || std::any_of(impl_->live.begin(), impl_->live.end(),
                                                [](const auto& p) { return p->waits_for_libraries(); });
}
void Session::request_stop() { stop::request(); }
bool Session::stop_requested() { return stop::requested(); }
bool Session::may_end_at_once() { return stop::may_end_at_once(); }
bool Session::forward_to_command(int signal) { return current_command.send(signal); }

}  // namespace blip::session
