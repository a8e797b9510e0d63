// SPDX-License-Identifier: MIT
#include "session/session.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>

#include "probe/instrumentation.h"
#include "probe/leftovers.h"
#include "probe/plan.h"
#include "probe/resolve.h"
#include "proc/cpu.h"
#include "proc/status.h"
#include "session/classes.h"
#include "session/consumer.h"

namespace blip::session {

namespace {

std::atomic<bool> stop_requested = false;

constexpr uint64_t kMaxRingSize = uint64_t{1} << 30;
constexpr uint32_t kSharedRingSize = 1 << 20;
constexpr uint32_t kMinSlotSize = 64;

constexpr uint64_t signal_bit(int signal) { return uint64_t{1} << (signal - 1); }
constexpr uint64_t kFaultSignals = signal_bit(SIGSEGV) | signal_bit(SIGBUS) | signal_bit(SIGFPE);

double to_ms(std::chrono::nanoseconds t) { return std::chrono::duration<double, std::milli>(t).count(); }

// The moment of exec: before main() and the dynamic linker, which only the process's CPU clock has seen.
std::chrono::steady_clock::time_point process_start() {
  timespec used;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::steady_clock::now() - std::chrono::seconds(used.tv_sec) -
         std::chrono::nanoseconds(used.tv_nsec);
}
const auto kProcessStart = process_start();

double since_process_start_ms() { return to_ms(std::chrono::steady_clock::now() - kProcessStart); }

Status check_options(const Options& options) {
  const uint64_t ring = uint64_t{options.subbuf_count} * options.subbuf_size;
  if (!std::has_single_bit(options.subbuf_count) || !std::has_single_bit(options.subbuf_size) ||
      options.subbuf_count < 2 || options.subbuf_size < abi::kPageSize || ring > kMaxRingSize)
    return Error(ErrorKind::kUsage,
                 "buffers: --num-subbuf and --subbuf-size must be powers of two, at least 2 and 4k, together "
                 "at most 1G");
  return {};
}

// How long to sleep between rounds: short while much comes in.
std::chrono::milliseconds pause_after(uint64_t bytes, uint64_t ring_size) {
  using std::chrono::milliseconds;
  if (bytes == 0) return milliseconds(20);
  return bytes > ring_size / 4 ? milliseconds(1) : milliseconds(5);
}

std::string now_utc() {
  const time_t now = ::time(nullptr);
  tm parts;
  ::gmtime_r(&now, &parts);
  char text[32];
  ::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string hostname() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

double cpu_seconds() {
  rusage usage;
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval t) { return double(t.tv_sec) + double(t.tv_usec) / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

// Members in the order they are acquired: undone in reverse.
struct Session::Impl {
  explicit Impl(const Options& o) : options(o) {}

  Status start();
  Status plan();
  Status arm();
  void report_arming();
  Status register_streams(uint64_t start_tsc);
  Error all_refused() const;
  Status open_output();
  Summary run(const EventSink& sink, const std::function<void()>& end_of_round);
  End loop(const std::function<void()>& end_of_round);
  bool target_gone(End& end);
  void finish(Summary& summary);
  void count(Summary& summary) const;

  const Options options;
  std::optional<proc::Process> process;
  std::optional<proc::Memory> memory;
  std::vector<probe::Module> modules;
  bool modules_complete = false;
  std::vector<probe::FunctionTarget> targets;
  std::vector<probe::Probe> probes;
  std::vector<bool> refused;  // by probe
  std::optional<ctf::TraceDir> dir;
  ClassTable classes;
  Armed armed;
  std::unique_ptr<probe::Instrumentation> instrumentation;
  std::optional<Consumer> consumer;
};

Status Session::Impl::start() {
  TRY_OK(check_options(options));
  if (options.pids.size() != 1)
    return Error(ErrorKind::kUnsupported, "one process can be traced in this version: name it with -p PID");
  TRY(process, proc::Process::open(options.pids[0]));
  TRY(memory, proc::Memory::open(options.pids[0]));
  if (!proc::tsc_usable())
    return Error(ErrorKind::kUnsupported,
                 "the CPU's cycle counter is not constant: timestamps would be wrong");
  TRY_OK(plan());
  if (options.mode == Mode::kRecord) TRY_OK(open_output());
  TRY(const std::optional<std::string> cleaned, probe::clean_leftovers(*process, *memory));
  if (cleaned) armed.notes.push_back(*cleaned);
  auto status = arm();
  if (!status && dir) dir->abandon();
  return status;
}

Status Session::Impl::plan() {
  TRY(const std::vector<proc::Map> maps, proc::read_maps(process->pid()));
  const size_t notes_before = armed.notes.size();
  TRY(modules, probe::load_modules(*process, maps, armed.notes));
  modules_complete = armed.notes.size() == notes_before;
  std::vector<elf::Spec> specs;
  for (const ProbeRequest& request : options.probes) specs.push_back(request.spec);
  TRY(targets, probe::resolve_functions(specs, modules));
  if (targets.size() > options.max_probes)
    return Error(ErrorKind::kUsage,
                 fmt::format("{} functions match, more than {}: say --max-probes {} if you mean it",
                             targets.size(), options.max_probes, targets.size()));
  probes.resize(targets.size());
  TRY(const pid_t thread, proc::find_live_thread(process->pid()));
  TRY(const proc::ProcStatus status, proc::read_status(process->pid(), thread));
  const probe::PlanOptions plan_options{.faults_matter = (status.caught & kFaultSignals) != 0};
  for (size_t m = 0; m < modules.size(); ++m) {
    std::vector<size_t> mine;
    std::vector<elf::Function> functions;
    for (size_t i = 0; i < targets.size(); ++i) {
      if (targets[i].module != m) continue;
      mine.push_back(i);
      functions.push_back(targets[i].function);
    }
    if (mine.empty()) continue;
    auto sites = probe::plan_entries(modules[m], functions, plan_options);
    for (size_t i = 0; i < mine.size(); ++i) probes[mine[i]] = {.module = m, .site = std::move(sites[i])};
  }
  return {};
}

Status Session::Impl::open_output() {
  const std::string path =
      options.output_dir.empty() ? ctf::default_name(process->comm(), process->pid()) : options.output_dir;
  TRY(dir, ctf::TraceDir::create(path));
  return {};
}

Status Session::Impl::arm() {
  std::vector<uint64_t> ips;
  for (const probe::FunctionTarget& t : targets)
    ips.push_back(modules[t.module].to_target(t.function.addr).value);
  classes = make_classes(options, targets, ips);
  if (classes.classes.size() >= abi::kMaxClasses)
    return Error(ErrorKind::kUsage, fmt::format("too many probes: at most {}", abi::kMaxClasses));
  uint32_t largest = 0;
  for (size_t i = 0; i < probes.size(); ++i) {
    probes[i].program = classes.programs[i];
    largest = std::max(largest, classes.programs[i].record_size);
  }

  if (std::all_of(probes.begin(), probes.end(), [](const probe::Probe& p) { return p.site.refused(); }))
    return all_refused();

  abi::Geometry geometry{.class_count = static_cast<uint32_t>(classes.classes.size()) + abi::kFirstClass};
  if (options.mode != Mode::kCount) {
    geometry.subbuf_count = options.subbuf_count;
    geometry.subbuf_size = options.subbuf_size;
    geometry.slot_size = std::max(kMinSlotSize, std::bit_ceil(largest + 8));
    geometry.slot_count = kSharedRingSize / geometry.slot_size;
  }
  const uint64_t start_tsc = ring::TscClock()();
  TRY(instrumentation,
      probe::Instrumentation::arm(*process, *memory, modules, probes, geometry, modules_complete));
  report_arming();
  const double instrumented_ms = since_process_start_ms();
  TRY_OK(register_streams(start_tsc));
  armed.total_ms = since_process_start_ms();
  armed.notes.push_back(fmt::format("instrumentation {:.1f} ms, registration {:.1f} ms", instrumented_ms,
                                    armed.total_ms - instrumented_ms));
  return {};
}

// Said before the target is touched.
Error Session::Impl::all_refused() const {
  constexpr size_t kShown = 5;
  std::string text = "nothing can be armed";
  for (size_t i = 0; i < std::min(kShown, probes.size()); ++i)
    text += fmt::format("{} {}: {}", i == 0 ? ":" : ";", targets[i].name, probes[i].site.refusal);
  if (probes.size() > kShown) text += fmt::format("; and {} more", probes.size() - kShown);
  return Error(ErrorKind::kUnsupported, text);
}

void Session::Impl::report_arming() {
  refused.resize(probes.size());
  const auto refuse = [&](size_t i, const std::string& reason) {
    refused[i] = true;
    armed.refused.push_back({targets[i].name, reason});
  };
  for (size_t i = 0; i < probes.size(); ++i)
    if (probes[i].site.refused()) refuse(i, probes[i].site.refusal);
  const probe::ArmReport& report = instrumentation->report();
  for (const auto& [probe, reason] : report.refused) refuse(probe, reason);
  armed.notes.insert(armed.notes.end(), report.notes.begin(), report.notes.end());
  armed.probes = probes.size() - armed.refused.size();
  armed.paused_ms = to_ms(report.paused);
}

// The consumer, and for a trace on disk its metadata and stream files.
Status Session::Impl::register_streams(uint64_t start_tsc) {
  consumer.emplace(instrumentation->geometry(), instrumentation->region(), classes.classes, process->pid(),
                   start_tsc);
  if (options.max_events) consumer->limit_events(*options.max_events);
  if (dir) {
    const ctf::Uuid uuid = ctf::random_uuid();
    const ctf::TraceInfo info{.hostname = hostname(),
                              .procname = process->comm(),
                              .vpid = process->ns_pid(),
                              .command_line = options.command_line,
                              .creation_time = now_utc(),
                              .realtime_offset = consumer->realtime_offset()};
    TRY_OK(dir->write_metadata(ctf::metadata_text(info, classes.classes, uuid)));
    TRY_OK(consumer->write_to(*dir, uuid));
  }
  return {};
}

// An end of the target: exec leaves the process, but not the memory we knew.
bool Session::Impl::target_gone(End& end) {
  if (!process->alive()) {
    end = End::kTargetExit;
  } else if (memory->mm_gone()) {
    end = process->alive() ? End::kTargetExec : End::kTargetExit;
  } else {
    return false;
  }
  instrumentation->target_is_gone();
  return true;
}

End Session::Impl::loop(const std::function<void()>& end_of_round) {
  const auto begin = std::chrono::steady_clock::now();
  End end = End::kStopped;
  for (;;) {
    const uint64_t bytes = consumer->drain();
    if (end_of_round) end_of_round();
    if (consumer->limit_reached()) return End::kMaxEvents;
    if (consumer->output_error()) return End::kOutputFailed;
    if (stop_requested) return End::kStopped;
    auto pause = std::chrono::duration_cast<std::chrono::milliseconds>(
        pause_after(bytes, instrumentation->geometry().ring_size()));
    if (options.duration) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          *options.duration - (std::chrono::steady_clock::now() - begin));
      if (left.count() <= 0) return End::kDuration;
      pause = std::min(pause, left);
    }
    pollfd exit_event{.fd = process->pidfd(), .events = POLLIN, .revents = 0};
    (void)::poll(&exit_event, 1, static_cast<int>(pause.count()));
    if (target_gone(end)) return end;
  }
}

void Session::Impl::count(Summary& summary) const {
  const ring::CounterReader counters(instrumentation->geometry(), instrumentation->region());
  for (size_t i = 0; i < targets.size(); ++i) {
    if (refused[i]) continue;
    const ring::CounterTotals totals = counters.class_totals(classes.programs[i].class_id);
    summary.counts.push_back({targets[i].name, modules[targets[i].module].basename(), totals.hits});
    summary.events += totals.hits;
  }
}

void Session::Impl::finish(Summary& summary) {
  const auto begin = std::chrono::steady_clock::now();
  if (summary.end != End::kTargetExit && summary.end != End::kTargetExec) {
    auto removed = instrumentation->disarm();
    if (removed) {
      summary.detach_paused_ms = to_ms(removed->paused);
      if (removed->kept)
        summary.warnings.push_back(
            fmt::format("memory of blip stays in process {}: {}", process->pid(), removed->kept_reason));
      if (removed->foreign != 0)
        summary.warnings.push_back(
            fmt::format("{} probed places held bytes of another tool and were left alone", removed->foreign));
    } else if (!target_gone(summary.end)) {
      summary.warnings.push_back(
          fmt::format("process {} could not be restored: {}", process->pid(), removed.error().message()));
      summary.failed = true;
    }
  }
  summary.detach_ms = to_ms(std::chrono::steady_clock::now() - begin);
  consumer->finish();
  if (const auto& error = consumer->output_error()) {
    summary.warnings.push_back("the trace is incomplete: " + error->message());
    summary.failed = true;
  }
}

Summary Session::Impl::run(const EventSink& sink, const std::function<void()>& end_of_round) {
  if (sink) consumer->show_to(sink);
  Summary summary;
  summary.end = loop(end_of_round);
  finish(summary);
  const ConsumerTotals totals = consumer->totals();
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

Result<std::unique_ptr<Session>> Session::start(const Options& options) {
  auto impl = std::make_unique<Impl>(options);
  TRY_OK(impl->start());
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

const Armed& Session::armed() const { return impl_->armed; }
Summary Session::run(const EventSink& sink, const std::function<void()>& end_of_round) {
  return impl_->run(sink, end_of_round);
}
void Session::request_stop() { stop_requested = true; }

}  // namespace blip::session
