// SPDX-License-Identifier: MIT
// A class may come from the description that a hostile target has changed: what is accepted here can be
// packed and declared without another look.
#include <fmt/core.h>

#include "abi/layout.h"
#include "ctf/captured.h"
#include "ctf/packet.h"

namespace blip::ctf {

namespace {

Error does_not_fit(const Field& field) {
  return Error(
      ErrorKind::kInvalid,
      fmt::format("the field {} does not fit what its probe records: this is a bug of blip", field.name));
}

bool is_number_size(uint32_t size) { return size == 1 || size == 2 || size == 4 || size == 8; }

// The place of a field's bytes.
struct Room {
  uint32_t output = kNoOutput;
  uint64_t bytes = 0;       // there
  bool is_element = false;  // of an array or a sequence
  bool is_collected = false;
};

class Check {
 public:
  explicit Check(const EventClass& event_class) : class_(event_class) {}

  Status outputs() const {
    bool good = class_.outputs.size() <= kMaxOutputs;
    for (const RecordOutput& o : class_.outputs)
      good = good && o.size != 0 && o.most_bytes() <= abi::kMaxRecordSize &&
             (!o.is_added || (o.kind == RecordOutput::Kind::kSequence && &o == &class_.outputs.back()));
    if (!good)
      return Error(ErrorKind::kInvalid, "more is captured in one event than a record can hold: capture less");
    return {};
  }

  Status field(const Field& f, Room room, uint32_t depth) {
    if (++count_ > kMaxFieldCount || depth > kMaxFieldDepth)
      return Error(ErrorKind::kInvalid,
                   fmt::format("the type of {} has too many members, or they are too deep in each other: "
                               "capture some of them",
                               f.name));
    if (f.output != kNoOutput && !enter(f.output, room)) return does_not_fit(f);
    if (is_plain(f.type) || f.type == FieldType::kFaults || f.type == FieldType::kCut) {
      if (depth != 0 || (!is_plain(f.type) && f.is_context)) return does_not_fit(f);
      return {};
    }
    switch (f.type) {
      case FieldType::kNote:
        return {};
      case FieldType::kStruct:
        return members(f, room, depth);
      case FieldType::kArray:
      case FieldType::kSequence:
        return elements(f, room, depth);
      case FieldType::kCollected:
        return collected(f, room, depth);
      case FieldType::kCollectedText:
        return room.is_collected ? Status() : does_not_fit(f);
      default:
        break;
    }
    if (!(f.type == FieldType::kText ? text_fits(f, room) : number_fits(f, room))) return does_not_fit(f);
    return {};
  }

 private:
  const RecordOutput* output_of(const Room& room) const {
    return room.output < class_.outputs.size() ? &class_.outputs[room.output] : nullptr;
  }
  bool enter(uint32_t output, Room& room) const {
    if (output >= class_.outputs.size()) return false;
    if (room.is_element) return output == room.output;
    const RecordOutput& o = class_.outputs[output];
    room = {output, o.is_dynamic() ? 0 : o.size, false, false};
    return true;
  }

  bool number_fits(const Field& f, const Room& room) const {
    const bool good_size = f.type == FieldType::kFloat
                               ? f.size == 4 || f.size == 8 || f.size == kLongDoubleSize
                           : f.type == FieldType::kChar ? f.size == 1
                                                        : is_number_size(f.size);
    const bool good_bits =
        f.bit_size == 0 || (f.type != FieldType::kFloat && f.bit_size <= 8 * f.size && f.bit_offset < 64);
    return good_size && good_bits && uint64_t{f.begin} + touched_bytes(f) <= room.bytes;
  }
  bool text_fits(const Field& f, const Room& room) const {
    const RecordOutput* o = output_of(room);
    if (o && o->is_dynamic() && !room.is_element)
      return o->kind == RecordOutput::Kind::kString || o->size == 1;
    return uint64_t{f.begin} + f.count <= room.bytes;
  }

  Status members(const Field& f, const Room& room, uint32_t depth) {
    for (const Field& member : f.members) TRY_OK(field(member, room, depth + 1));
    return {};
  }
  Status elements(const Field& f, const Room& room, uint32_t depth) {
    if (f.members.size() != 1 || f.size == 0) return does_not_fit(f);
    bool good;
    if (f.type == FieldType::kArray) {
      good = f.begin + uint64_t{f.count} * f.size <= room.bytes;
    } else {
      const RecordOutput* o = output_of(room);
      good = o && o->kind == RecordOutput::Kind::kSequence && o->size == f.size && !room.is_element;
    }
    if (!good) return does_not_fit(f);
    return members(f, {room.output, f.size, true, false}, depth);
  }
  // Each element takes some bytes of the record, which bounds how many there can be.
  Status collected(const Field& f, const Room& room, uint32_t depth) {
    const RecordOutput* o = output_of(room);
    const bool is_own = o && o->kind == RecordOutput::Kind::kCollected && !room.is_element;
    if ((!is_own && !room.is_collected) || f.members.size() != 1 || least_collected(f) == 0)
      return does_not_fit(f);
    return members(f, {room.output, f.size, true, true}, depth);
  }

  const EventClass& class_;
  uint32_t count_ = 0;
};

}  // namespace

Status check_outputs(const EventClass& event_class) {
  if (!event_class.has_hit_word) return {};
  Check check(event_class);
  TRY_OK(check.outputs());
  for (const Field& field : event_class.fields) TRY_OK(check.field(field, {}, 0));
  const uint32_t in_ring = largest_captured(event_class);
  const uint32_t in_file = fields_size(event_class);
  if (in_ring > abi::kMaxRecordSize || in_file > kMaxFieldsSize)
    return Error(
        ErrorKind::kUsage,
        fmt::format("{}: an event may take {} bytes (in the trace {}), more than the {} ({}) there is room "
                    "for: capture less",
                    event_class.name, in_ring, in_file, abi::kMaxRecordSize, kMaxFieldsSize));
  return {};
}

}  // namespace blip::ctf
