// SPDX-License-Identifier: MIT
#include "session/process/process_names.h"

#include <algorithm>

#include "ctf/clock.h"

namespace blip::session {

void ProcessNames::name_frames(std::span<const probe::Module> modules,
                               const std::optional<probe::Module>& vdso) {
  frames_.emplace();
  for (const probe::Module& module : modules) frames_->add(module);
  if (vdso) frames_->add(*vdso);
}

void ProcessNames::write_to(const Statedump& statedump, std::unique_ptr<ctf::StreamWriter> stream,
                            uint64_t start_ns, std::span<const probe::Module> modules) {
  statedump_ = &statedump;
  stream_ = std::move(stream);
  start_ns_ = start_ns;
  statedump.dump(*stream_, vpid_, start_ns, modules);
  tell_places(start_ns);
}

void ProcessNames::add_places(std::vector<PlaceName> names) {
  if (recorded_) {
    untold_places_ = std::move(names);
  } else {
    for (PlaceName& name : names) places_shown_.add(std::move(name));
  }
}

void ProcessNames::tell_places(uint64_t time_ns) {
  if (!stream_) return;
  statedump_->places(*stream_, vpid_, time_ns, std::exchange(untold_places_, {}));
  (void)stream_->flush_all();
}

void ProcessNames::tell_child(int32_t vpid, std::span<const probe::Module> modules) {
  if (!stream_) return;
  statedump_->dump(*stream_, vpid, start_ns_, modules);
  (void)stream_->flush_all();
}

// Events of a file that has gone may still wait to be shown, so its names stay. Where another file comes,
// what waits has no names: none is better than one of the other file.
void ProcessNames::change_frames(const LibraryNews& news) {
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
    frames_->add(file.module);
  }
}

bool ProcessNames::names_hold(uint64_t address, uint64_t time_ns) const {
  return std::none_of(named_anew_.begin(), named_anew_.end(), [&](const auto& change) {
    return change.first.contains(TargetAddr(address)) && time_ns < change.second;
  });
}

void ProcessNames::change(const LibraryNews& news) {
  if (frames_) change_frames(news);
  if (!stream_) return;
  const uint64_t now = ctf::HostClocks::monotonic_ns();
  for (const CodeFile& file : news.went) statedump_->unloaded(*stream_, vpid_, now, file.module);
  for (const CodeFile& file : news.came) statedump_->loaded(*stream_, vpid_, now, file.module);
  (void)stream_->flush_all();
}

}  // namespace blip::session
