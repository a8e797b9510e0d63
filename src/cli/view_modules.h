// SPDX-License-Identifier: MIT
#pragma once

#include <babeltrace2/babeltrace.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "session/frame_names.h"

namespace blip::cli {

// Which files the processes of a trace had mapped, as its own events tell (session/statedump.h).
class ViewModules {
 public:
  // True: it was such an event, which is not to be shown.
  bool take(const bt_event* event);

  // Of a process that nothing is told of, a child for one, what the first one has counts.
  const std::vector<session::NamedFrame>& of(int32_t vpid, uint64_t address, bool is_return);

 private:
  struct File {
    std::string path;
    uint64_t size = 0;
  };

  void take_file(int32_t vpid, const bt_field* payload);
  void take_build_id(int32_t vpid, const bt_field* payload);

  std::map<int32_t, session::FrameNames> names_;            // by process
  std::map<std::pair<int32_t, uint64_t>, File> announced_;  // by process and address: their build-id follows
};

}  // namespace blip::cli
