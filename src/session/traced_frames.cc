// SPDX-License-Identifier: MIT
// What is known of a traced process's files, for those who name the addresses of its backtraces.
#include <time.h>

#include "session/traced_process.h"

namespace blip::session {

namespace {

uint64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

FrameNames& TracedProcess::frame_names() {
  if (names_) return *names_;
  names_.emplace();
  const std::vector<probe::Module> modules = libraries_ ? libraries_->modules() : plan_.modules;
  for (const probe::Module& module : modules) names_->add(module);
  if (stacks_ && stacks_->vdso()) names_->add(*stacks_->vdso());
  return *names_;
}

// With the time from before the first probe: readers must have heard of a file before an address in it.
void TracedProcess::tell_modules(const Statedump& statedump, std::unique_ptr<ctf::StreamWriter> stream) {
  statedump_ = &statedump;
  module_stream_ = std::move(stream);
  statedump.dump(*module_stream_, process_.ns_pid(), schema_.start.ns, plan_.modules);
  (void)module_stream_->flush_all();
}

void TracedProcess::tell_changes(const LibraryNews& news) {
  if (names_) {
    for (const CodeFile& file : news.went) names_->remove(file.module.extent().begin.value);
    for (const CodeFile& file : news.came) names_->add(file.module);
  }
  if (!module_stream_) return;
  const uint64_t now = monotonic_ns();
  for (const CodeFile& file : news.went)
    statedump_->unloaded(*module_stream_, process_.ns_pid(), now, file.module);
  for (const CodeFile& file : news.came)
    statedump_->loaded(*module_stream_, process_.ns_pid(), now, file.module);
  (void)module_stream_->flush_all();
}

}  // namespace blip::session
