// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ctf/clock.h"
#include "ctf/metadata.h"
#include "ctf/schema.h"

namespace blip::session {

// What to say where it does not fit.
inline constexpr char kNoRoomToDescribe[] =
    "there is no room in the process to describe all of its events: should blip be killed, `blip clean "
    "--save` cannot read those of what comes now";

// All that a later blip must know to make a trace of the records in a region. It is written into the region
// as text.
struct RegionSchema {
  ctf::TraceInfo info;
  ctf::Uuid uuid{};    // of the trace that was being written
  std::string dir;     // of that trace, absolute; empty: none was
  std::string prefix;  // of its stream files
  ctf::ClockPair start;
  bool monotonic = false;  // records carry CLOCK_MONOTONIC instead of cycles
  int32_t vpid = 0;        // as the process sees itself
  std::vector<ctf::EventClass> classes;
};

std::string to_text(const RegionSchema& schema);

// Parses text that anybody may have changed: every class is laid out as its fields say, ids are unique and
// follow each other.
Result<RegionSchema> parse_region_schema(std::string_view untrusted_text);

}  // namespace blip::session
