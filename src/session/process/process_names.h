// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/addr.h"
#include "ctf/stream_writer.h"
#include "probe/code/module.h"
#include "session/process/statedump.h"
#include "session/symbolize/frame_names.h"
#include "session/symbolize/place_name.h"
#include "session/watch/library_watch.h"

namespace blip::session {

// The names of what lies at the addresses of one traced process, as its files come and go: for the screen, while
// events are shown, and for the readers of a recorded trace, who are told which files are mapped.
class ProcessNames {
 public:
  // `recorded`: names are for the readers of files. `vpid`: of the process, as it sees itself.
  ProcessNames(bool recorded, int32_t vpid) : recorded_(recorded), vpid_(vpid) {}

  // For the screen: names frames of backtraces in these files, and in those that come.
  void name_frames(std::span<const probe::Module> modules, const std::optional<probe::Module>& vdso);
  // Null before that.
  FrameNames* frames() { return frames_ ? &*frames_ : nullptr; }
  // Whether they are those of an event of that time.
  bool names_hold(uint64_t address, uint64_t time_ns) const;

  // Before arming: it takes time that the rings' reader must not lose.
  void add_places(std::vector<PlaceName> names);
  // Of events of classes that many places share, while they are shown live.
  const PlaceTable& places() const { return places_shown_; }

  // From now on the trace is told which files are mapped, these at once, as of `start_ns`, a time before the
  // first probe: readers must have heard of a file before an address in it. `statedump` outlives it.
  void write_to(const Statedump& statedump, std::unique_ptr<ctf::StreamWriter> stream, uint64_t start_ns,
                std::span<const probe::Module> modules);
  // The same for a child that was forked, as early as the stream allows: the child's first events are older
  // than the news of it.
  void tell_child(int32_t vpid, std::span<const probe::Module> modules);
  // Tells of what add_places() has brought.
  void tell_places(uint64_t time_ns);
  void change(const LibraryNews& news);

 private:
  void change_frames(const LibraryNews& news);

  bool recorded_;
  int32_t vpid_;
  std::optional<FrameNames> frames_;
  std::vector<AddrRange> gone_files_;                       // whose names stay
  std::vector<std::pair<AddrRange, uint64_t>> named_anew_;  // where another file came, and when
  PlaceTable places_shown_;
  const Statedump* statedump_ = nullptr;
  std::unique_ptr<ctf::StreamWriter> stream_;
  uint64_t start_ns_ = 0;
  std::vector<PlaceName> untold_places_;
};

}  // namespace blip::session
