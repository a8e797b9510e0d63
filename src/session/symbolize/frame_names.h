// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "dwarf/lines/inlined_frames.h"
#include "probe/code/module.h"
#include "session/symbolize/named_frame.h"

namespace blip::session {

// Names the frames of one process's backtraces. Symbols and debugging information are read where they are
// needed, and kept.
class FrameNames {
 public:
  // It takes the place of what it overlaps.
  void add(const probe::Module& module);
  // A file that was mapped from `begin` on. Unless it can be read and has that build-id, in hex, if one is
  // known, frames in it keep their module's name only.
  void add_file(const std::string& path, uint64_t begin, uint64_t size, const std::string& build_id);
  // Forgets what began there.
  void remove(uint64_t begin);

  // Innermost first, at least one, the last not inlined. `is_return`: a return address, of which the call
  // before counts. Good until the next change.
  const std::vector<NamedFrame>& of(uint64_t address, bool is_return);
  bool has(uint64_t address) const;

 private:
  struct Image {
    AddrRange range;
    std::string name;
    std::optional<probe::Module> module;
    bool looked_for_source = false;
    std::vector<dwarf::InlinedFrames> sources{};
  };

  void put(Image image);
  Image* image_of(uint64_t address);
  static std::vector<dwarf::SourceFrame> source_frames(Image& image, FileAddr code);
  std::vector<NamedFrame> name(uint64_t address, bool is_return);

  std::map<uint64_t, Image> images_;  // by their first address
  std::map<std::pair<uint64_t, bool>, std::vector<NamedFrame>> known_;
};

}  // namespace blip::session
