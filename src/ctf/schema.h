// SPDX-License-Identifier: MIT
// What a record looks like: shared by the code that lays records out, the CTF metadata and the live printer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace blip::ctf {

enum class FieldType {
  kInt32,
  kUint32,
  kUint64,
  kHex64,    // shown in base 16: addresses and registers
  kText16,   // 16 bytes of UTF-8, NUL-padded; never empty, for which babeltrace2 2.0 shows the text it read
             // before
  kText256,  // the same, longer
};

uint32_t field_size(FieldType type);

struct Field {
  std::string name;  // as the user sees it; the writer adds the underscore CTF identifiers need
  FieldType type;
  uint32_t offset = 0;       // from the start of the record
  bool is_context = false;   // in the event's context scope rather than its payload
  bool is_implicit = false;  // nobody asked for it: left out where events are printed for people
  bool is_duration = false;  // in ns; in the rings, units of the records' clock
};

// One record layout with one name. All records of a class have the same size. Fields lie back to back after
// the 8-byte header, contexts first, in the order of this list; `record_size` is rounded up to 8 with padding
// after the last.
struct EventClass {
  uint16_t id = 0;
  std::string name;
  std::vector<Field> fields;
  uint32_t record_size = 0;
  // The first field is the process's pid, which the rings tell by other means: a record in a ring lacks it,
  // and what follows lies that much nearer to the header. So does an event in a stream of one process, if
  // nobody asked for the field (is_implicit): there the packets tell it.
  bool leads_with_pid = false;
  // Records in rings have a hit word (abi/layout.h) behind their header.
  bool has_hit_word = false;
  bool of_blip = false;      // blip writes it itself: no ring may hold one
  bool many_places = false;  // its name is no function's or instruction's: the field ip tells the place
};

inline constexpr uint32_t kPidSize = 4;
// Of a record in a ring: all but the pid, rounded up to 8.
uint32_t ring_record_size(const EventClass& event_class);

// Moves the contexts to the front (keeping their order), gives every field its offset and the class its
// record_size.
void lay_out(EventClass& event_class);

// Bytes of fields in a record as the trace file holds it: header and tail padding are not counted (the file
// has no padding: a CTF event is the 8-byte header and the fields). What StreamWriter::append wants.
uint32_t fields_size(const EventClass& event_class);

struct TraceInfo {
  std::string hostname;
  std::string procname;
  int32_t vpid = 0;
  std::string command_line;     // blip's own, for the reader's benefit
  std::string creation_time;    // ISO 8601, UTC
  int64_t realtime_offset = 0;  // CLOCK_REALTIME - CLOCK_MONOTONIC, ns
  // Whether there are streams that several processes write: events are declared once for each kind of stream.
  bool streams_of_several = false;
};

}  // namespace blip::ctf
