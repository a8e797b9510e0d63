// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/view/babeltrace.h"
#include "session/symbolize/frame_names.h"
#include "session/symbolize/place_name.h"

namespace blip::cli {

// Which files the processes of a trace had mapped, as its own events tell (session/process/statedump.h).
class ViewModules {
 public:
  // True: it was such an event, which is not to be shown.
  bool take(const bt_event* event);

  // Returns the place of an event whose class many places share, NAME or NAME+0xOFF; empty if it is no such
  // event, or if its place is not known.
  std::string place_of(const bt_event* event) const;

  // The frames of an address. For a process without modules of its own in the trace, those of the first
  // process hold.
  const std::vector<session::NamedFrame>& of(int32_t vpid, uint64_t address, bool is_return);

 private:
  struct File {
    std::string path;
    uint64_t size = 0;
    bool has_build_id = false;  // it follows
    std::string build_id{};

    bool operator==(const File&) const = default;
    bool is_whole() const { return !has_build_id || !build_id.empty(); }
  };
  using Files = std::map<uint64_t, File>;  // by their first address

  void take_file(int32_t vpid, const bt_field* payload);
  void take_build_id(int32_t vpid, const bt_field* payload);
  void take_place(int32_t vpid, const bt_field* payload);
  void tell_names(int32_t vpid, uint64_t base, const File& file);
  session::FrameNames* names_of(int32_t vpid);

  // By process. Children have what their parent has: those with the same files share the names.
  std::map<int32_t, Files> files_;
  std::map<int32_t, session::PlaceTable> places_;
  std::map<int32_t, std::shared_ptr<session::FrameNames>> names_;  // of those that were asked for
};

}  // namespace blip::cli
