// SPDX-License-Identifier: MIT
// What is known of a traced process's files, for those who name the addresses of its backtraces.
#include <algorithm>
#include <utility>

#include "ctf/clock.h"
#include "session/traced_process.h"

namespace blip::session {

std::vector<probe::Module> TracedProcess::modules_now() const {
  return libraries_ ? libraries_->modules() : plan_.modules;
}

FrameNames& TracedProcess::frame_names() {
  if (names_) return *names_;
  names_.emplace();
  for (const probe::Module& module : modules_now()) names_->add(module);
  if (stacks_ && stacks_->vdso()) names_->add(*stacks_->vdso());
  return *names_;
}

// With the time from before the first probe: readers must have heard of a file before an address in it.
void TracedProcess::tell_modules(const Statedump& statedump, std::unique_ptr<ctf::StreamWriter> stream) {
  statedump_ = &statedump;
  module_stream_ = std::move(stream);
  statedump.dump(*module_stream_, process_.ns_pid(), schema_.start.ns, plan_.modules);
  tell_places(schema_.start.ns);
}

// Before arming: it takes time that the rings' reader must not lose.
void TracedProcess::name_places(const ProbePlan& plan) {
  if (context_.options.mode == Mode::kCount) return;
  std::vector<PlaceName> names = plan.place_names(context_.classes.classes());
  if (context_.options.mode == Mode::kRecord) {
    place_names_ = std::move(names);
  } else {
    for (PlaceName& name : names) places_shown_.add(std::move(name));
  }
}

void TracedProcess::tell_places(uint64_t time_ns) {
  if (!module_stream_) return;
  statedump_->places(*module_stream_, process_.ns_pid(), time_ns, std::exchange(place_names_, {}));
  (void)module_stream_->flush_all();
}

// As early as the stream allows: the child's first events are older than the news of it.
void TracedProcess::tell_child(int32_t vpid) {
  if (!module_stream_) return;
  statedump_->dump(*module_stream_, vpid, schema_.start.ns, modules_now());
  (void)module_stream_->flush_all();
}

// Events of a file that has gone may still wait to be shown, so its names stay. Where another file comes,
// what waits has no names: none is better than one of the other file.
void TracedProcess::change_names(const LibraryNews& news) {
  const uint64_t now = ctf::HostClocks::monotonic_ns();
  const auto overlaps = [](const AddrRange& a, const AddrRange& b) {
    return a.begin < b.end && b.begin < a.end;
  };
  for (const CodeFile& file : news.went) gone_files_.push_back(file.module.extent());
  for (const CodeFile& file : news.came) {
    const AddrRange there = file.module.extent();
    if (std::erase_if(gone_files_, [&](const AddrRange& gone) { return overlaps(gone, there); }) != 0) {
      std::erase_if(named_anew_, [&](const auto& old) { return overlaps(old.first, there); });
      named_anew_.emplace_back(there, now);
    }
    names_->add(file.module);
  }
}

bool TracedProcess::names_hold(uint64_t address, uint64_t time_ns) const {
  return std::none_of(named_anew_.begin(), named_anew_.end(), [&](const auto& change) {
    return change.first.contains(TargetAddr(address)) && time_ns < change.second;
  });
}

void TracedProcess::tell_changes(const LibraryNews& news) {
  if (names_) change_names(news);
  if (!module_stream_) return;
  const uint64_t now = ctf::HostClocks::monotonic_ns();
  for (const CodeFile& file : news.went)
    statedump_->unloaded(*module_stream_, process_.ns_pid(), now, file.module);
  for (const CodeFile& file : news.came)
    statedump_->loaded(*module_stream_, process_.ns_pid(), now, file.module);
  (void)module_stream_->flush_all();
}

}  // namespace blip::session
