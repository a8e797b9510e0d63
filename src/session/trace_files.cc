// SPDX-License-Identifier: MIT
#include "session/trace_files.h"

#include <fmt/core.h>

#include <filesystem>
#include <utility>

#include "session/plan/environment.h"

namespace blip::session {

namespace {

constexpr uint64_t kStatedumpStreams = uint64_t{1} << 33;
constexpr uint64_t kLifecycleStream = uint64_t{1} << 32;  // beyond the streams of processes

}  // namespace

TraceFiles::TraceFiles(TraceContext& context) : context_(context), statedump_(context.classes) {}

Status TraceFiles::open(const proc::Process& first, bool of_one) {
  const Options& options = context_.options;
  const std::string path =
      options.output_dir.empty() ? ctf::default_name(first.comm(), first.pid()) : options.output_dir;
  TRY(dir_, ctf::TraceDir::create(path));
  info_ = trace_info(options);
  info_.realtime_offset = context_.clock.realtime_offset();
  if (!of_one) return {};
  info_.procname = first.comm();
  info_.vpid = first.ns_pid();
  return {};
}

void TraceFiles::abandon() {
  if (dir_) dir_->abandon();
}

Status TraceFiles::add(TracedProcess& process) {
  if (!dir_) return {};
  TRY_OK(write_metadata());
  const std::string prefix = streams_ == 0 ? "" : fmt::format("pid{}-{}-", process.process().pid(), streams_);
  TRY_OK(process.events().write_to(
      {.dir = *dir_, .uuid = uuid_, .prefix = prefix, .first_stream = streams_, .before_several = [this] {
         return begin_several();
       }}));
  TRY(auto stream, statedump_.open({.dir = *dir_, .uuid = uuid_, .prefix = prefix, .before_several = {}},
                                   kStatedumpStreams + streams_, process.process().ns_pid()));
  process.tell_modules(statedump_, std::move(stream));
  process.tell_output(info_, uuid_, std::filesystem::absolute(dir_->path()).string(), prefix);
  streams_ += process.events().stream_count();
  return {};
}

Status TraceFiles::begin_several() {
  if (std::exchange(info_.streams_of_several, true)) return {};
  return write_metadata();
}

Result<TraceOutput> TraceFiles::add_lives() {
  info_.streams_of_several = true;
  TRY_OK(write_metadata());
  return TraceOutput{
      .dir = *dir_, .uuid = uuid_, .prefix = "", .first_stream = kLifecycleStream, .before_several = {}};
}

Status TraceFiles::write_metadata() {
  if (!dir_) return {};
  return dir_->write_metadata(ctf::metadata_text(info_, context_.classes.classes(), uuid_));
}

}  // namespace blip::session
