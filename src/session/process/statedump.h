// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ctf/stream_writer.h"
#include "probe/code/module.h"
#include "session/drain/ring_output.h"
#include "session/plan/classes.h"
#include "session/symbolize/place_name.h"

namespace blip::session {

// Events of a trace that are not of the user's probes but tell readers where files are mapped.
bool is_statedump(std::string_view event_name);
// blip's own: events of class `event_id` whose ip is in `size` bytes from `address` on are of the place
// `name`.
inline constexpr char kPlaceEvent[] = "blip_statedump:place";

// One of its classes as it was when the region of a killed blip was described: gives it all its fields again,
// which no record in a ring has.
void complete_statedump_class(ctf::EventClass& event_class);

// Tells in a trace which files a process has mapped, and which come and go later, in the words of LTTng-UST,
// so that `babeltrace2 --debug-info` and `blip view` can name addresses after the process is gone.
class Statedump {
 public:
  // Adds its classes to the table.
  explicit Statedump(ClassTable& classes);

  // A stream for a process; all its events are of `vpid`. Its number is what tells it from others.
  Result<std::unique_ptr<ctf::StreamWriter>> open(const TraceOutput& output, uint64_t number,
                                                  int32_t vpid) const;

  // All that is mapped at the time, between a start and an end.
  void dump(ctf::StreamWriter& to, int32_t vpid, uint64_t time_ns,
            std::span<const probe::Module> modules) const;
  // Writes what events of shared classes are called, by their ip.
  void places(ctf::StreamWriter& to, int32_t vpid, uint64_t time_ns, std::span<const PlaceName> names) const;
  void loaded(ctf::StreamWriter& to, int32_t vpid, uint64_t time_ns, const probe::Module& module) const;
  void unloaded(ctf::StreamWriter& to, int32_t vpid, uint64_t time_ns, const probe::Module& module) const;

 private:
  enum Kind {
    kStart,
    kBinInfo,
    kBuildId,
    kDebugLink,
    kEnd,
    kLoad,
    kLoadBuildId,
    kLoadDebugLink,
    kUnload,
    kPlace,
    kKinds
  };
  struct Told {
    ctf::StreamWriter& to;
    int32_t vpid;
    uint64_t time_ns;
  };

  void tell(const Told& told, const probe::Module& module, Kind info, Kind build_id, Kind debug_link) const;
  void put(const Told& told, Kind kind, const std::vector<uint8_t>& payload) const;

  std::array<uint16_t, kKinds> ids_{};
};

}  // namespace blip::session
