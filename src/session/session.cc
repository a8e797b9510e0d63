// SPDX-License-Identifier: MIT
#include "session/session.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <thread>

#include "base/progress.h"
#include "proc/command_signals.h"
#include "proc/cpu.h"
#include "proc/find_processes.h"
#include "session/environment.h"
#include "session/live_merge.h"
#include "session/spawn.h"
#include "session/traced_process.h"

namespace blip::session {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

std::atomic<bool> stop_requested = false;
proc::CommandSignals current_command;

constexpr uint64_t kMaxRingSize = uint64_t{1} << 30;
constexpr milliseconds kLookForProcesses{100};
constexpr uint64_t kAllBuffers = uint64_t{1} << 30;  // of all processes, unless the user says otherwise
constexpr int kTriesWhileWaiting = 20;
constexpr uint32_t kLeastSubbuf = 64 << 10;

double to_ms(std::chrono::nanoseconds t) { return std::chrono::duration<double, std::milli>(t).count(); }

Status check_options(const Options& options) {
  const uint64_t ring = uint64_t{options.subbuf_count} * options.subbuf_size;
  if (!std::has_single_bit(options.subbuf_count) || !std::has_single_bit(options.subbuf_size) ||
      options.subbuf_count < 2 || options.subbuf_size < abi::kPageSize || ring > kMaxRingSize)
    return Error(ErrorKind::kUsage,
                 "buffers: --num-subbuf and --subbuf-size must be powers of two, at least 2 and 4k, together "
                 "at most 1G");
  if (options.clock == ClockChoice::kTsc && !proc::tsc_usable())
    return Error(ErrorKind::kUnsupported,
                 "the CPU's cycle counter is not constant: leave --clock tsc away, and times come from "
                 "CLOCK_MONOTONIC");
  if (options.clock == ClockChoice::kTsc && options.backend == Backend::kUprobe)
    return Error(ErrorKind::kUsage, "--clock tsc: uprobes take their times from CLOCK_MONOTONIC");
  return {};
}

// How long to sleep between rounds: short while much comes in.
milliseconds pause_after(uint64_t bytes, uint64_t ring_size) {
  if (bytes == 0) return milliseconds(20);
  return bytes > ring_size / 4 ? milliseconds(1) : milliseconds(5);
}

}  // namespace

struct Session::Impl {
  explicit Impl(const Options& o) : options(o), context(options) {
    if (options.max_events) context.limit.most = *options.max_events;
  }
  ~Impl() { current_command.forget(); }

  Status start(const std::function<void()>& waiting);
  Status start_by_name(const std::function<void()>& waiting);
  Status start_command();
  const proc::Process* first_process() const;
  Status register_early();
  Status go();
  Status add_by_pid(pid_t pid);
  size_t add_by_name();
  bool is_known(pid_t pid) const;
  // One that has just started may not have its libraries yet.
  int tries() const { return options.wait_for_processes ? kTriesWhileWaiting : 1; }
  Status arm_planned();
  void choose_buffers();
  Status open_output(const proc::Process& first);
  Status register_streams(TracedProcess& process);
  Status write_metadata();

  Summary run(const Hooks& hooks);
  End loop(const Hooks& hooks);
  uint64_t drain();
  bool wait(milliseconds pause);
  std::optional<End> drop_gone(const Hooks& hooks);
  void look_for_more(const Hooks& hooks);
  void retire(TracedProcess& process);
  void finish(Summary& summary);
  void add_totals(TracedProcess& process);
  void count(Summary& summary) const;
  std::string place_of(uint64_t ip) const;

  // Members in the order they are acquired: undone in reverse.
  const Options options;
  std::optional<ctf::TraceDir> dir;
  ctf::Uuid uuid = ctf::random_uuid();
  ctf::TraceInfo info;
  TraceContext context;
  std::optional<Spawn> spawn;
  std::vector<std::unique_ptr<TracedProcess>> planned;
  std::vector<std::unique_ptr<TracedProcess>> live;
  std::optional<LiveMerge> merge;
  std::map<pid_t, int> failures;  // of the right name, but could not be traced so often
  uint64_t streams = 0;
  Armed armed;
  double registration_ms = 0;  // of armed.total_ms: metadata and stream files
  ConsumerTotals totals;
  std::vector<std::optional<uint64_t>> hits;  // by class id - 1: summed over processes as they go
  std::vector<std::string> warnings;
  std::optional<Error> output_error;
  Clock::time_point last_look{};
};

Status Session::Impl::start(const std::function<void()>& waiting) {
  TRY_OK(check_options(options));
  if (!options.command.empty()) {
    TRY_OK(start_command());
  } else if (!options.process_name.empty()) {
    TRY_OK(start_by_name(waiting));
  } else {
    for (pid_t pid : options.pids) TRY_OK(add_by_pid(pid));
  }
  if (options.mode == Mode::kRecord && first_process()) TRY_OK(open_output(*first_process()));
  choose_buffers();
  if (options.backend == Backend::kUprobe && options.follow_fork)
    armed.remarks.push_back("uprobes do not follow forks: children are not traced");
  Status status = register_early();
  if (status) status = arm_planned();
  if (!status && dir) dir->abandon();
  armed.total_ms = since_process_start_ms();
  armed.notes.push_back(fmt::format("instrumentation {:.1f} ms, registration {:.1f} ms",
                                    armed.total_ms - registration_ms, registration_ms));
  return status;
}

Status Session::Impl::start_command() {
  TRY(Spawn started, Spawn::start(options.command, context));
  spawn.emplace(std::move(started));
  current_command.hold(spawn->command);
  if (spawn->planned) planned.push_back(std::move(spawn->planned));
  armed.remarks = spawn->remarks;
  armed.notes = spawn->notes;
  return {};
}

const proc::Process* Session::Impl::first_process() const {
  if (!planned.empty()) return &planned.front()->process();
  return spawn && spawn->early ? &spawn->early->process() : nullptr;
}

// What a command did before everything in it could be probed.
Status Session::Impl::register_early() {
  if (!spawn || !spawn->early) return {};
  if (spawn->ended) spawn->early->report(armed);
  return register_streams(*spawn->early);
}

// The command runs from here on.
Status Session::Impl::go() {
  if (!spawn) return {};
  if (spawn->early) {
    if (merge) spawn->early->consumer().show_to(&*merge);
    retire(*spawn->early);
  }
  return spawn->command.go();
}

Status Session::Impl::add_by_pid(pid_t pid) {
  TRY(proc::Process process, proc::Process::open(pid));
  auto traced = TracedProcess::plan(std::move(process), context);
  if (!traced)
    return options.pids.size() > 1 ? traced.error().with_context(fmt::format("process {}", pid))
                                   : traced.error();
  planned.push_back(*std::move(traced));
  return {};
}

// Every process of the name that can be traced and is not yet; the others are noted.
size_t Session::Impl::add_by_name() {
  for (pid_t pid : proc::find_processes(options.process_name)) {
    if (is_known(pid)) continue;
    auto process = proc::Process::open(pid);
    auto traced = process ? TracedProcess::plan(*std::move(process), context)
                          : Result<std::unique_ptr<TracedProcess>>(process.error());
    if (traced) {
      planned.push_back(*std::move(traced));
    } else if (traced.error().kind() != ErrorKind::kGone && ++failures[pid] == tries()) {
      armed.notes.push_back(fmt::format("process {} is left out: {}", pid, traced.error().message()));
    }
  }
  return planned.size();
}

bool Session::Impl::is_known(pid_t pid) const {
  if (const auto f = failures.find(pid); f != failures.end() && f->second >= tries()) return true;
  return std::any_of(live.begin(), live.end(),
                     [&](const auto& p) { return p->process().pid() == pid || p->shares(pid); });
}

Status Session::Impl::start_by_name(const std::function<void()>& waiting) {
  if (add_by_name() > 0) return {};
  if (!options.wait_for_processes) {
    if (!armed.notes.empty())
      return Error(ErrorKind::kNotFound, fmt::format("no process named {} can be traced: {}",
                                                     options.process_name, armed.notes.front()));
    return Error(ErrorKind::kNotFound,
                 fmt::format("no process of yours is named {}: --wait waits for one", options.process_name));
  }
  if (waiting) waiting();
  const auto begin = Clock::now();
  while (add_by_name() == 0) {
    if (stop_requested || (options.duration && Clock::now() - begin > *options.duration))
      return Error(ErrorKind::kNotFound, fmt::format("no process named {} came", options.process_name));
    std::this_thread::sleep_for(kLookForProcesses);
  }
  return {};
}

// Many processes must not take all memory.
void Session::Impl::choose_buffers() {
  if (options.buffers_given) return;
  const uint64_t rings = planned.size() * static_cast<uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  while (context.subbuf_size > kLeastSubbuf &&
         rings * options.subbuf_count * context.subbuf_size > kAllBuffers)
    context.subbuf_size /= 2;
  if (context.subbuf_size != options.subbuf_size)
    armed.notes.push_back(fmt::format("{} processes: buffers of {} x {} KiB per CPU each", planned.size(),
                                      options.subbuf_count, context.subbuf_size >> 10));
}

Status Session::Impl::open_output(const proc::Process& first) {
  const std::string path =
      options.output_dir.empty() ? ctf::default_name(first.comm(), first.pid()) : options.output_dir;
  TRY(dir, ctf::TraceDir::create(path));
  info = trace_info(options);
  info.realtime_offset = context.clock.realtime_offset();
  if (options.pids.size() == 1 || spawn) {
    info.procname = first.comm();
    info.vpid = first.ns_pid();
  }
  return {};
}

// Of the processes of a name, one may end between plan and arm, or turn out to be in other hands.
Status Session::Impl::arm_planned() {
  const progress::Step step("attaching");
  std::vector<std::unique_ptr<TracedProcess>> todo = std::exchange(planned, {});
  std::optional<Error> failed;
  for (std::unique_ptr<TracedProcess>& process : todo) {
    const pid_t pid = process->process().pid();
    auto status = process->arm();
    if (!status && options.process_name.empty())
      return options.pids.size() > 1 ? status.error().with_context(fmt::format("process {}", pid))
                                     : status.error();
    if (!status) {
      failures[pid] = tries();
      armed.notes.push_back(fmt::format("process {} is left out: {}", pid, status.error().message()));
      failed = status.error();
      continue;
    }
    const double instrumented_ms = since_process_start_ms();
    TRY_OK(register_streams(*process));
    registration_ms += since_process_start_ms() - instrumented_ms;
    process->report(armed);
    live.push_back(std::move(process));
  }
  if (live.empty() && failed) return *failed;
  return {};
}

Status Session::Impl::register_streams(TracedProcess& process) {
  if (merge) process.consumer().show_to(&*merge);
  if (!dir) return {};
  TRY_OK(write_metadata());
  const std::string prefix = streams == 0 ? "" : fmt::format("pid{}-{}-", process.process().pid(), streams);
  TRY_OK(process.consumer().write_to(
      {.dir = *dir, .uuid = uuid, .prefix = prefix, .first_stream = streams, .before_several = [this] {
         if (std::exchange(info.streams_of_several, true)) return Status();
         return write_metadata();
       }}));
  streams += process.consumer().stream_count();
  return {};
}

Status Session::Impl::write_metadata() {
  return dir->write_metadata(ctf::metadata_text(info, context.classes.classes(), uuid));
}

uint64_t Session::Impl::drain() {
  const ctf::ClockPair start = context.clock.sample();
  uint64_t bytes = 0;
  for (const auto& process : live) bytes = std::max(bytes, process->consumer().drain(start));
  if (merge) context.limit.taken += merge->show(start.ns, context.limit.most - context.limit.taken);
  return bytes;
}

// Sleeps, but not after a process has ended.
bool Session::Impl::wait(milliseconds pause) {
  std::vector<pollfd> events;
  for (const auto& process : live)
    events.push_back({.fd = process->poll_fd(), .events = POLLIN, .revents = 0});
  return ::poll(events.data(), events.size(), static_cast<int>(pause.count())) > 0;
}

void Session::Impl::retire(TracedProcess& process) {
  process.consumer().finish();
  if (const auto& error = process.consumer().output_error(); error && !output_error) output_error = error;
  add_totals(process);
}

// Ends of processes; a value if none is left.
std::optional<End> Session::Impl::drop_gone(const Hooks& hooks) {
  std::optional<End> last;
  for (auto p = live.begin(); p != live.end();) {
    last = (*p)->gone();
    if (!last || (live.size() == 1 && !options.wait_for_processes)) {
      ++p;
      continue;
    }
    if (hooks.notice) hooks.notice(fmt::format("process {} has gone", (*p)->process().pid()));
    retire(**p);
    p = live.erase(p);
    last.reset();  // of the one that was dropped, not of those left
  }
  return live.size() == 1 && !options.wait_for_processes ? last : std::nullopt;
}

void Session::Impl::look_for_more(const Hooks& hooks) {
  if (!options.wait_for_processes || Clock::now() - last_look < kLookForProcesses) return;
  last_look = Clock::now();
  if (add_by_name() == 0) return;
  const size_t before = live.size();
  const uint64_t probes = armed.probes;
  if (auto status = arm_planned(); !status && !output_error) output_error = status.error();
  if (live.size() > before && hooks.notice)
    hooks.notice(
        fmt::format("armed {} probes in process {}", armed.probes - probes, live.back()->process().pid()));
}

End Session::Impl::loop(const Hooks& hooks) {
  const auto begin = Clock::now();
  for (;;) {
    const uint64_t bytes = drain();
    if (hooks.end_of_round) hooks.end_of_round();
    if (context.limit.reached()) return End::kMaxEvents;
    for (const auto& process : live)
      if (process->consumer().output_error()) return End::kOutputFailed;
    if (stop_requested) return End::kStopped;
    milliseconds pause = pause_after(bytes, live.empty() ? 0 : live.front()->consumer().ring_size());
    if (options.duration) {
      const auto left = std::chrono::duration_cast<milliseconds>(*options.duration - (Clock::now() - begin));
      if (left.count() <= 0) return End::kDuration;
      pause = std::min(pause, left);
    }
    wait(pause);
    if (const auto end = drop_gone(hooks)) return *end;
    look_for_more(hooks);
    if (output_error) return End::kOutputFailed;
  }
}

void Session::Impl::add_totals(TracedProcess& process) {
  const ConsumerTotals more = process.consumer().totals();
  totals.events += more.events;
  totals.discarded += more.discarded;
  totals.skipped += more.skipped;
  totals.malformed += more.malformed;
  for (std::string& warning : process.consumer().warnings()) warnings.push_back(std::move(warning));
  if (options.mode == Mode::kCount) process.add_hits(hits);
}

void Session::Impl::count(Summary& summary) const {
  for (size_t i = 0; i < hits.size(); ++i) {
    if (!hits[i]) continue;
    const ctf::EventClass& c = context.classes.classes()[i];
    const ProbeKind kind = options.probes[context.classes.request_of(i)].kind;
    summary.counts.push_back(
        {c.name, context.classes.module_of(i), *hits[i], kind == ProbeKind::kEveryInstruction});
    summary.events += *hits[i];
  }
}

// Processes may have different code at one address.
std::string Session::Impl::place_of(uint64_t ip) const {
  std::string place;
  for (const auto& process : live) {
    std::string here = process->place_of(TargetAddr(ip));
    if (here.empty() || here == place) continue;
    if (!place.empty()) return {};
    place = std::move(here);
  }
  return place;
}

void Session::Impl::finish(Summary& summary) {
  const auto begin = Clock::now();
  for (const auto& process : live) process->disarm(summary);
  summary.detach_ms = to_ms(Clock::now() - begin);
  for (const auto& process : live) retire(*process);
  if (merge)
    totals.events += context.limit.taken + merge->show(UINT64_MAX, context.limit.most - context.limit.taken);
  for (std::string& warning : warnings) summary.warnings.push_back(std::move(warning));
  if (output_error) {
    summary.warnings.push_back("the trace is incomplete: " + output_error->message());
    summary.failed = true;
  }
}

Summary Session::Impl::run(const Hooks& hooks) {
  if (hooks.sink)
    merge.emplace(hooks.sink, context.classes.classes(), [this](uint64_t ip) { return place_of(ip); });
  for (const auto& process : live)
    if (merge) process->consumer().show_to(&*merge);
  Summary summary;
  if (const Status gone = go(); !gone) {
    summary.warnings.push_back("the command could not be let go: " + gone.error().message());
    summary.failed = true;
  } else {
    summary.end = spawn && spawn->ended ? *spawn->ended : loop(hooks);
  }
  finish(summary);
  summary.events = totals.events;
  summary.discarded = totals.discarded;
  summary.skipped = totals.skipped;
  if (totals.malformed != 0)
    summary.warnings.push_back(
        fmt::format("{} places in the buffers made no sense and were cut", totals.malformed));
  if (options.mode == Mode::kCount) count(summary);
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
void Session::request_stop() { stop_requested = true; }
bool Session::forward_to_command(int signal) { return current_command.send(signal); }

}  // namespace blip::session
