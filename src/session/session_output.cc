// SPDX-License-Identifier: MIT
// Arming what was planned, and the streams its events go to.
#include <fmt/core.h>

#include <filesystem>

#include <utility>

#include "base/progress.h"
#include "base/stop.h"
#include "session/drain/live_sink.h"
#include "session/plan/environment.h"
#include "session/session_impl.h"

namespace blip::session {

namespace {

constexpr uint64_t kStatedumpStreams = uint64_t{1} << 33;
constexpr uint64_t kLifecycleStream = uint64_t{1} << 32;  // beyond the streams of processes

}  // namespace

// Of the processes of a name, one may end between plan and arm, or turn out to be in other hands.
Status Session::Impl::arm_planned() {
  const progress::Step step("attaching");
  std::vector<std::unique_ptr<TracedProcess>> todo = std::exchange(planned, {});
  std::optional<Error> failed;
  for (std::unique_ptr<TracedProcess>& process : todo) {
    const pid_t pid = process->process().pid();
    auto status = arm_one(std::move(process));
    if (!status && options.probes.empty() && !output_error && !stop::requested()) {  // it is only watched
      TRY(proc::Process same, proc::Process::open(pid, options.init()));
      unarmed.push_back(std::move(same));
      armed.notes.push_back("what is too short to be seen will be missed: " + status.error().message());
      continue;
    }
    if (!status && (options.process_name.empty() || output_error || stop::requested()))
      return options.pids.size() > 1 ? status.error().with_context(fmt::format("process {}", pid))
                                     : status.error();
    if (status) continue;
    failures[pid] = tries();
    armed.notes.push_back(fmt::format("process {} is left out: {}", pid, status.error().message()));
    failed = status.error();
  }
  if (live.empty() && failed) return *failed;
  return {};
}

// What fails with output_error set is not the process's fault.
Status Session::Impl::arm_one(std::unique_ptr<TracedProcess> process) {
  TRY_OK(process->arm());
  const double instrumented_ms = since_process_start_ms();
  if (Status registered = register_streams(*process); !registered) {
    output_error = registered.error();
    return registered;
  }
  registration_ms += since_process_start_ms() - instrumented_ms;
  process->report(armed);
  live.push_back(std::move(process));
  return {};
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
  if (!lifecycle) return {};
  info.streams_of_several = true;
  TRY_OK(write_metadata());
  return lifecycle->write_to(
      {.dir = *dir, .uuid = uuid, .prefix = "", .first_stream = kLifecycleStream, .before_several = {}});
}

Status Session::Impl::register_streams(TracedProcess& process) {
  if (merge) process.events().add_sink(std::make_unique<LiveSink>(*merge));
  if (!dir) return {};
  TRY_OK(write_metadata());
  const std::string prefix = streams == 0 ? "" : fmt::format("pid{}-{}-", process.process().pid(), streams);
  TRY_OK(process.events().write_to(
      {.dir = *dir, .uuid = uuid, .prefix = prefix, .first_stream = streams, .before_several = [this] {
         if (std::exchange(info.streams_of_several, true)) return Status();
         return write_metadata();
       }}));
  if (statedump) {
    TRY(auto stream, statedump->open({.dir = *dir, .uuid = uuid, .prefix = prefix, .before_several = {}},
                                     kStatedumpStreams + streams, process.process().ns_pid()));
    process.tell_modules(*statedump, std::move(stream));
  }
  process.tell_output(info, uuid, std::filesystem::absolute(dir->path()).string(), prefix);
  streams += process.events().stream_count();
  return {};
}

Status Session::Impl::write_metadata() {
  return dir->write_metadata(ctf::metadata_text(info, context.classes.classes(), uuid));
}

}  // namespace blip::session
