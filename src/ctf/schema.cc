// SPDX-License-Identifier: MIT
#include "ctf/schema.h"

#include <algorithm>

#include "ctf/packet.h"

namespace blip::ctf {

uint32_t field_size(FieldType type) {
  switch (type) {
    case FieldType::kInt32:
    case FieldType::kUint32:
      return 4;
    case FieldType::kUint64:
    case FieldType::kHex64:
      return 8;
    case FieldType::kText16:
      return 16;
    case FieldType::kText256:
      return 256;
  }
  return 0;
}

void lay_out(EventClass& event_class) {
  auto& fields = event_class.fields;
  std::stable_partition(fields.begin(), fields.end(), [](const Field& field) { return field.is_context; });
  uint32_t offset = kEventHeaderSize;
  for (Field& field : fields) {
    field.offset = offset;
    offset += field_size(field.type);
  }
  event_class.record_size = (offset + 7) & ~uint32_t{7};
}

uint32_t ring_record_size(const EventClass& event_class) {
  const uint32_t pid = event_class.leads_with_pid ? kPidSize : 0;
  return (kEventHeaderSize + fields_size(event_class) - pid + 7) & ~uint32_t{7};
}

uint32_t fields_size(const EventClass& event_class) {
  uint32_t size = 0;
  for (const Field& field : event_class.fields) size += field_size(field.type);
  return size;
}

}  // namespace blip::ctf
