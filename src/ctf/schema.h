// SPDX-License-Identifier: MIT
// Describes what a record looks like. Shared by the code that lays records out, the CTF metadata and the live
// printer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace blip::ctf {

enum class FieldType {
  kInt32,
  kUint32,
  kUint64,
  kHex64,      // shown in base 16: addresses and registers
  kText16,     // 16 bytes of UTF-8, NUL-padded; never empty, for which babeltrace2 2.0 shows the text it read
               // before
  kText256,    // the same, longer
  kStackId,    // 4 bytes, of the hit's stack: the consumer puts its frames into the event
  kStackInfo,  // 8 bytes: see StackInfo

  // Types of what programs of probes captured, only in classes with a hit word: see Field.
  kInt,       // 1, 2, 4 or 8 bytes, or some bits of them
  kBool,      // 1, 2, 4 or 8 bytes
  kChar,      // 1 byte
  kFloat,     // 4 or 8 bytes, or 16 of which 10 are used: then a double in the file
  kEnum,      // a number with labels
  kText,      // a string in the file, without end
  kArray,     // `count` times members[0]
  kSequence,  // members[0], as often as the output has elements
  kStruct,    // members
  kNote,      // `note` stands in its place; no record holds it
  kFaults,    // 8 bytes: bit n says that output n could not be read; it is 0 or empty then
  kCut,       // 8 bytes: bit n says that there was more of output n

  // Plain again; here, because regions in targets hold these numbers.
  kUint16,
  kUint8,

  // Types of what was collected from many places (collect/steps.h); in the file they are structures that tell
  // what they lack.
  kCollected,      // { state, size, elements }: members[0], of an output that is a kCollected, or in one
  kCollectedText,  // { state, text }, in a kCollected
};

constexpr bool is_plain(FieldType type) {
  return type < FieldType::kInt || type == FieldType::kUint16 || type == FieldType::kUint8;
}
// In bytes, of a plain one.
uint32_t field_size(FieldType type);

// The group of a field, to the user: readers keep the names of one group apart from those of another.
enum class FieldGroup : uint8_t {
  kOwn,      // of every such event, named by blip: ret, latency_ns, ...
  kContext,  // --context
  kArgument,
  kLocal,
  kCapture,
  kDetail,  // all that blip's own events tell
};

struct Label {
  int64_t value = 0;  // the bits, if the number is unsigned
  std::string name;

  bool operator==(const Label&) const = default;
};

inline constexpr uint32_t kNoOutput = UINT32_MAX;

struct Field {
  std::string name;  // as the user sees it; the writer adds the underscore CTF identifiers need
  FieldType type;
  uint32_t offset = 0;      // from the start of the record; if there is a hit word, of the record in the ring
  bool is_context = false;  // in the event's context scope rather than its payload
  bool is_implicit = false;  // nobody asked for it: left out where events are printed for people
  bool is_duration = false;  // in ns; in the rings, units of the records' clock

  // These describe what was captured. `begin` counts from the first byte of the output or, inside of an array
  // or a sequence, of the element.
  uint32_t output = kNoOutput;  // whose bytes it is made of; none: as what it is a member of
  uint32_t begin = 0;
  uint32_t size = 0;  // bytes of a number; of an array or sequence, what the next element lies apart; of a
                      // kCollected, what of an element comes as it is
  bool is_signed = false;
  bool is_hex = false;                   // shown in base 16
  uint8_t bit_offset = 0, bit_size = 0;  // of a bit-field, from the lowest bit of its bytes; 0: it is none
  uint32_t count = 0;                    // of an array: elements; of text in a fixed output: bytes, up to NUL
  std::vector<Label> labels;
  std::vector<Field> members;
  std::string note;
  FieldGroup group = FieldGroup::kDetail;  // of what is not in the context scope
};

inline FieldGroup group_of(const Field& field) {
  return field.is_context ? FieldGroup::kContext : field.group;
}

// One value that a program captured, as it lies in the records of a class with a hit word (abi/layout.h).
struct RecordOutput {
  enum class Kind : uint8_t {
    kFixed,      // `size` bytes
    kString,     // bytes, at most `count`
    kSequence,   // elements of `size` bytes, at most `count` of them
    kCollected,  // bytes, at most `count`, as collect/steps.h has them
  } kind = Kind::kFixed;
  uint32_t size = 8;
  uint32_t count = 0;
  bool may_fault = true;
  bool is_added = false;  // no ring holds it: blip puts it in; the last one, a sequence
  uint32_t offset = 0;    // in the record: of the bytes or, if their number changes, of the length

  bool is_dynamic() const { return kind != Kind::kFixed; }
  uint64_t most_bytes() const {
    const bool is_bytes = kind == Kind::kString || kind == Kind::kCollected;
    return is_bytes ? count : uint64_t{size} * (is_dynamic() ? count : 1);
  }
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
  // Records in rings have a hit word (abi/layout.h) behind their header, and what `outputs` say behind the
  // plain fields. EventPacker makes events of them, whose fields lie back to back, all of their own length.
  bool has_hit_word = false;
  bool of_blip = false;      // blip writes it itself: no ring may hold one
  bool tells_lives = false;  // blip makes other events of its records
  bool tells_files = false;  // readers name addresses by such events, and look for the process in a context
                             // that all events of the stream share
  bool many_places = false;  // its name is no function's or instruction's: the field ip tells the place
  std::vector<RecordOutput> outputs{};  // at most kMaxOutputs
  uint32_t fixed_size = 0;              // of a record with a hit word: where bytes of changing number begin
};

// A kStackInfo tells this of the frames of its event: why they end in the low 8 bits (abi::UnwindEnd), and in
// the bits above, for the first frames, which are no return addresses.
struct StackInfo {
  static constexpr unsigned kFirstBit = 8;
  static constexpr uint8_t kNoRoom = 0xff;  // instead of an abi::UnwindEnd: there are no frames
};

inline constexpr size_t kMaxOutputs = 48;  // each has a bit in the hit word

inline constexpr uint32_t kPidSize = 4;
// Returns the size of a record in a ring: all but the pid, rounded up to 8. If there is a hit word, it is the
// size of the largest record.
uint32_t ring_record_size(const EventClass& event_class);

// Moves the contexts to the front (keeping their order), gives every field its offset and the class its
// record_size. If there is a hit word, also adds the fields that tell faults and cuts, where outputs may have
// them, gives every output its offset, and record_size is that of the largest event, header included.
void lay_out(EventClass& event_class);

// Checks that records of a class with a hit word, laid out, can be made and read: what the fields say fits
// the outputs, and the largest record fits a ring and a packet. The error says what to leave out.
Status check_outputs(const EventClass& event_class);

// Bytes of fields in a record as the trace file holds it: header and tail padding are not counted (the file
// has no padding: a CTF event is the 8-byte header and the fields). What StreamWriter::append wants. If there
// is a hit word: the most they may be.
uint32_t fields_size(const EventClass& event_class);

struct TraceInfo {
  std::string hostname;
  std::string procname;
  int32_t vpid = 0;
  std::string command_line;     // blip's own, for the reader's benefit
  std::string creation_time;    // ISO 8601, UTC
  int64_t realtime_offset = 0;  // CLOCK_REALTIME - CLOCK_MONOTONIC, ns
  // True if there are streams that several processes write: events are declared once for each kind of stream.
  bool streams_of_several = false;
};

}  // namespace blip::ctf
