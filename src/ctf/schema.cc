// SPDX-License-Identifier: MIT
#include "ctf/schema.h"

#include <algorithm>

#include "ctf/captured.h"
#include "ctf/packet.h"

namespace blip::ctf {

namespace {

uint32_t round_up(uint32_t n) { return (n + 7) & ~uint32_t{7}; }

uint32_t pid_size(const EventClass& event_class) { return event_class.leads_with_pid ? kPidSize : 0; }

}  // namespace

uint32_t field_size(FieldType type) {
  switch (type) {
    case FieldType::kInt32:
    case FieldType::kUint32:
    case FieldType::kStackId:
      return 4;
    case FieldType::kUint64:
    case FieldType::kHex64:
    case FieldType::kStackInfo:
      return 8;
    case FieldType::kUint16:
      return 2;
    case FieldType::kUint8:
      return 1;
    case FieldType::kText16:
      return 16;
    case FieldType::kText256:
      return 256;
    default:
      return 0;
  }
}

void lay_out(EventClass& event_class) {
  auto& fields = event_class.fields;
  if (event_class.has_hit_word) add_bit_fields(event_class);
  std::stable_partition(fields.begin(), fields.end(), [](const Field& field) { return field.is_context; });
  if (event_class.has_hit_word) {
    lay_out_captured(event_class);
    return;
  }
  uint32_t offset = kEventHeaderSize;
  for (Field& field : fields) {
    field.offset = offset;
    offset += field_size(field.type);
  }
  event_class.record_size = round_up(offset);
}

uint32_t ring_record_size(const EventClass& event_class) {
  if (event_class.has_hit_word) return largest_captured(event_class);
  return round_up(kEventHeaderSize + fields_size(event_class) - pid_size(event_class));
}

uint32_t fields_size(const EventClass& event_class) {
  uint32_t size = 0;
  for (const Field& field : event_class.fields)
    size += is_plain(field.type) ? field_size(field.type) : most_event_bytes(field, event_class.outputs);
  return size;
}

}  // namespace blip::ctf
