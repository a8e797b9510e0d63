// SPDX-License-Identifier: MIT
#include "session/session.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "proc/files/cpu.h"
#include "session/plan/environment.h"
#include "session/plan/requests.h"
#include "session/spawn.h"
#include "session/trace_loop.h"

namespace blip::session {

namespace {

constexpr int kTriesWhileWaiting = 20;
constexpr uint64_t kAllBuffers = uint64_t{1} << 30;  // of all processes, unless the user says otherwise
constexpr uint32_t kLeastSubbuf = 64 << 10;

Status check_buffers(const Options& options) {
  const uint64_t ring = uint64_t{options.subbuf_count} * options.subbuf_size;
  if (std::has_single_bit(options.subbuf_count) && std::has_single_bit(options.subbuf_size) &&
      options.subbuf_count >= 2 && options.subbuf_size >= abi::kPageSize && ring <= kMaxRingSize)
    return {};
  return Error(ErrorKind::kUsage,
               "buffers: --num-subbuf and --subbuf-size must be powers of two, at least 2 and 4k, together "
               "at most 1G");
}

Status check_uprobes(const Options& options) {
  if (options.backend != Backend::kUprobe) return {};
  if (options.clock == ClockChoice::kTsc)
    return Error(ErrorKind::kUsage, "--clock tsc: uprobes take their times from CLOCK_MONOTONIC");
  if (any_asks(options, asks_for_data))
    return Error(ErrorKind::kUsage,
                 "--backend uprobe: the kernel's breakpoints cannot look at the program's data: omit it, or "
                 "omit --args, --locals, --capture, --filter and values in memory");
  if (any_asks(options, asks_for_stack))
    return Error(ErrorKind::kUsage,
                 "--backend uprobe: the kernel's breakpoints cannot walk up the program's stack: omit it, or "
                 "omit --context backtrace");
  return {};
}

Status check_options(const Options& options) {
  TRY_OK(check_buffers(options));
  if (options.clock == ClockChoice::kTsc && !proc::tsc_usable())
    return Error(
        ErrorKind::kUnsupported,
        "the CPU's cycle counter is not constant: omit --clock tsc, and times come from CLOCK_MONOTONIC");
  return check_uprobes(options);
}

}  // namespace

// Who finds the processes, arms them, and brings their events to the outputs.
struct Session::Impl {
  Impl(const Options& o, Control& c)
      : options(o),
        control(c),
        context(options, control.stop()),
        outputs(context),
        // One that has just started may not have its libraries yet.
        roster(options.wait_for_processes ? kTriesWhileWaiting : 1) {
    if (options.max_events) context.limit.most = *options.max_events;
  }
  ~Impl() { control.command().forget(); }

  Status start(const std::function<void()>& waiting);
  Summary run(const Hooks& hooks);

  const Options options;
  Control& control;
  // Members in the order they are acquired: undone in reverse.
  TraceContext context;
  Outputs outputs;
  std::optional<Spawn> spawn;
  Roster roster;
  Armed armed;
  ProcessFinder finder{context, roster, armed};
  ProcessArmer armer{context, roster, outputs, armed};
  ExecutedPrograms executed{context, armer};
  FamilyWatch family{context, roster, executed};
  Totals totals{context};
  std::unique_ptr<EventLoop> events;  // what run() waits for

 private:
  Status start_command();
  Status open_files();
  Status register_early();
  void choose_buffers();
  void make_remarks();
  void begin_show(const Hooks& hooks);
  Status begin_script(const Hooks& hooks);
  Status go(TraceLoop& loop);
};

Status Session::Impl::start(const std::function<void()>& waiting) {
  TRY_OK(check_options(options));
  TRY(events, EventLoop::create());
  TRY_OK(options.command.empty() ? finder.find(waiting) : start_command());
  if (options.plans_only) return {};
  TRY_OK(open_files());
  choose_buffers();
  make_remarks();
  Status status = register_early();
  if (status) status = armer.arm_planned();
  if (!status && outputs.files()) outputs.files()->abandon();
  armed.total_ms = since_process_start_ms() - finder.waited_ms();
  armed.notes.push_back(fmt::format("instrumentation {:.1f} ms, registration {:.1f} ms",
                                    armed.total_ms - armer.registration_ms(), armer.registration_ms()));
  return status;
}

Status Session::Impl::start_command() {
  TRY(Spawn started, Spawn::start(options.command, context));
  spawn.emplace(std::move(started));
  control.command().hold(spawn->command);
  if (spawn->planned) {
    roster.planned().push_back(std::move(spawn->planned));
  } else if (!spawn->ended) {
    TRY(proc::Process process, proc::Process::open(spawn->command.pid()));
    roster.unarmed().push_back(std::move(process));
  }
  armed.remarks = spawn->remarks;
  armed.notes = spawn->notes;
  return {};
}

Status Session::Impl::open_files() {
  TraceFiles* const files = outputs.files();
  const proc::Process* first = roster.first();
  if (!first && spawn && spawn->early) first = &spawn->early->process();
  if (!files || !first) return {};
  TRY_OK(files->open(*first, options.pids.size() == 1 || spawn));
  return family.write_to(*files);
}

// What a command did before everything in it could be probed.
Status Session::Impl::register_early() {
  if (!spawn || !spawn->early) return {};
  if (spawn->ended) spawn->early->report(armed);
  return outputs.add(*spawn->early);
}

// Many processes must not take all memory.
void Session::Impl::choose_buffers() {
  if (options.buffers_given) return;
  const size_t processes = roster.planned().size();
  const uint64_t rings = processes * static_cast<uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  while (context.subbuf_size > kLeastSubbuf &&
         rings * options.subbuf_count * context.subbuf_size > kAllBuffers)
    context.subbuf_size /= 2;
  if (context.subbuf_size != options.subbuf_size)
    armed.notes.push_back(fmt::format("{} processes: buffers of {} x {} KiB per CPU each", processes,
                                      options.subbuf_count, context.subbuf_size >> 10));
}

void Session::Impl::make_remarks() {
  if (options.backend == Backend::kUprobe && options.follow_fork)
    armed.remarks.push_back("uprobes do not follow forks: children are not traced");
  if (!roster.unarmed().empty() && !options.probes.empty())
    armed.remarks.push_back("nothing matches yet: waiting for programs that come later (--follow-exec)");
}

void Session::Impl::begin_show(const Hooks& hooks) {
  if (!hooks.sink) return;
  LiveShow& show = outputs.begin_show(hooks.sink, hooks.is_full, context, roster.live());
  for (const auto& process : roster.live()) show.add(*process);
  family.show_to(show);
}

// Hits that came before wait in the rings.
Status Session::Impl::begin_script(const Hooks& hooks) {
  if (!hooks.engine) return {};
  ScriptRun& script = outputs.begin_script(*hooks.engine);
  family.tell(script);
  for (const auto& process : roster.live()) {
    script.add(*process);
    TRY_OK(script.sample(process->process()));
  }
  for (const proc::Process& process : roster.unarmed()) TRY_OK(script.sample(process));
  return {};
}

// The command runs from here on.
Status Session::Impl::go(TraceLoop& loop) {
  if (!spawn) return {};
  if (spawn->early) {
    if (LiveShow* const show = outputs.show()) show->add(*spawn->early);
    if (ScriptRun* const script = outputs.script()) script->add(*spawn->early);
    loop.retire(*spawn->early);
  }
  return spawn->command.go();
}

Summary Session::Impl::run(const Hooks& hooks) {
  TraceLoop loop(*events, {context, roster, outputs, finder, armer, executed, family, totals}, hooks);
  begin_show(hooks);
  const Status begun = begin_script(hooks);
  family.begin();
  Summary summary;
  const Status gone = go(loop);
  if (!begun) {
    summary.warnings.push_back("the script cannot be run: " + begun.error().message());
    summary.failed = true;
  } else if (!gone) {
    summary.warnings.push_back("the command could not be let go: " + gone.error().message());
    summary.failed = true;
  } else {
    summary.end = spawn && spawn->ended ? *spawn->ended : loop.run();
  }
  loop.finish(summary);
  if (outputs.files()) summary.output_dir = outputs.files()->path();
  summary.consumer_cpu_s = cpu_seconds();
  return summary;
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::start(const Options& options, Control& control,
                                                const std::function<void()>& waiting) {
  auto impl = std::make_unique<Impl>(options, control);
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
const std::vector<NamedFrame>& Session::names_at(pid_t pid, uint64_t address) const {
  static const std::vector<NamedFrame> unknown(1);
  const ScriptRun* const script = impl_->outputs.script();
  return script ? script->names_at(impl_->roster.live(), pid, address) : unknown;
}
pid_t Session::single_target() const {
  if (impl_->spawn) return impl_->spawn->command.pid();
  return impl_->options.pids.size() == 1 ? impl_->options.pids.front() : 0;
}
bool Session::may_come_later() const {
  const Roster::Processes& live = impl_->roster.live();
  return impl_->family.may_come_later() ||
         std::any_of(live.begin(), live.end(), [](const auto& p) { return p->waits_for_libraries(); });
}

}  // namespace blip::session
