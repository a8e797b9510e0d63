// SPDX-License-Identifier: MIT
// Live events as text or JSON, one line each:
//
//   [14:03:07.123456789] (+0.000001204) 4711 parse_request: { rdi = 0x7ffd10, procname = "server" }
//
// Where a class stands for many places, an event has the name of its own, and its address is followed by it:
// ip = 0x55d0c1a2b1b4 <parse+0x4>.
// JSON: event_json.h.
#pragma once

#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/output/output.h"
#include "cli/show/captured_values.h"
#include "session/drain/event_view.h"

namespace blip::cli {

struct PrintStyle {
  bool json = false;
  bool color = false;
  int64_t realtime_offset = 0;  // CLOCK_REALTIME - CLOCK_MONOTONIC, ns
};

// CLOCK_REALTIME - CLOCK_MONOTONIC now, in ns.
int64_t measure_realtime_offset();

// Collects lines and writes them in batches: when 64 KiB are full, and when flush() is called (after each
// round of the session, so that a line shows within 100 ms). While probes are in a target it does not wait
// for a reader: is_full() says that no more events can be taken for now. Used by one thread.
class Printer {
 public:
  Printer(Output& output, const PrintStyle& style);
  ~Printer();

  void event(const session::EventView& view);
  // Writes what there is room for. False once nobody reads the output.
  bool flush();
  // Waits a little for room before it says yes.
  bool is_full();
  // From now on lines wait for their reader, as long as the output does.
  void wait_for_reader() { waits_ = true; }
  // Writes everything.
  bool finish();

 private:
  struct ClassFormat;  // what is the same in every line of a class, rendered once

  ClassFormat& format_of(const ctf::EventClass& event_class);
  void text_line(const session::EventView& view, const ClassFormat& format);
  void append_clock(int64_t realtime_ns);
  void append_delta(uint64_t time_ns);
  bool render(const session::EventView& view, ClassFormat& format);
  const CapturedValues::HitPlace& place(const session::EventView& view, uint64_t ip);
  void append_name(const session::EventView& view, const ClassFormat& format);

  Output& output_;
  PrintStyle style_;
  std::string buffer_;
  bool waits_ = false;
  std::vector<std::unique_ptr<ClassFormat>> formats_;  // by class id
  int64_t cached_second_ = -1;
  char cached_clock_[8] = {};  // HH:MM:SS of cached_second_
  bool have_last_ = false;
  uint64_t last_time_ns_ = 0;
  std::map<std::pair<uint32_t, uint64_t>, CapturedValues::HitPlace> places_;  // by class and address
};

}  // namespace blip::cli
