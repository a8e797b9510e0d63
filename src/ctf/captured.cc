// SPDX-License-Identifier: MIT
#include "ctf/captured.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "abi/layout.h"
#include "collect/steps.h"
#include "ctf/long_double.h"
#include "ctf/packet.h"

namespace blip::ctf {

namespace {

constexpr uint32_t kMost = std::numeric_limits<uint32_t>::max() / 2;

uint32_t bounded(uint64_t n) { return static_cast<uint32_t>(std::min<uint64_t>(n, kMost)); }

bool has(const EventClass& event_class, FieldType type) {
  return std::any_of(event_class.fields.begin(), event_class.fields.end(),
                     [&](const Field& f) { return f.type == type; });
}

void add_once(EventClass& event_class, FieldType type, const char* name) {
  if (!has(event_class, type))
    event_class.fields.push_back({.name = name, .type = type, .is_implicit = true});
}

class Sizes {
 public:
  explicit Sizes(std::span<const RecordOutput> outputs) : outputs_(outputs) {}

  uint32_t of(const Field& field, uint32_t output, uint32_t depth) const {
    if (depth > kMaxFieldDepth) return kMost;
    if (field.output != kNoOutput && output != kElement) output = field.output;
    switch (field.type) {
      case FieldType::kText:
        return bounded((is_dynamic(output) ? outputs_[output].most_bytes() : field.count) + 1);
      case FieldType::kNote:
        return bounded(field.note.size() + 1);
      case FieldType::kStruct:
        return of_members(field, output, depth);
      case FieldType::kArray:
        return bounded(uint64_t{field.count} * of_members(field, kElement, depth));
      case FieldType::kSequence: {
        const uint64_t most = is_dynamic(output) ? outputs_[output].count : 0;
        return bounded(kCountSize + most * of_members(field, kElement, depth));
      }
      case FieldType::kCollectedText:
        return collect::kTextHead;
      case FieldType::kCollected:
        if (depth != 0 && output == kElement) return collect::kSequenceHead;
        return is_dynamic(output) ? bounded(grown(field, outputs_[output].most_bytes(), depth)) : kMost;
      case FieldType::kFaults:
      case FieldType::kCut:
        return kBitsSize;
      default:
        return number_size(field);
    }
  }

 private:
  static constexpr uint32_t kElement = kNoOutput - 1;  // of an array or a sequence: all bytes are there

  bool is_dynamic(uint32_t output) const { return output < outputs_.size() && outputs_[output].is_dynamic(); }
  uint32_t of_members(const Field& field, uint32_t output, uint32_t depth) const {
    uint64_t size = 0;
    for (const Field& member : field.members) size += of(member, output, depth + 1);
    return bounded(size);
  }

  // Returns how much `bytes` of a record become at most: those of the kind of element that grows most.
  uint64_t grown(const Field& field, uint64_t bytes, uint32_t depth) const {
    if (depth > kMaxFieldDepth || field.members.empty()) return kMost;
    const Field& element = field.members.front();
    const uint64_t in_record = std::max(least_collected(field), 1U);
    const uint64_t in_event = of(element, kElement, depth + 1);
    const uint64_t own =
        bytes + (in_event > in_record ? bytes * (in_event - in_record) / in_record + in_event : 0);
    return std::max(own, grown_inside(element, bytes, depth + 1));
  }
  uint64_t grown_inside(const Field& field, uint64_t bytes, uint32_t depth) const {
    if (field.type == FieldType::kCollected) return grown(field, bytes, depth);
    uint64_t most = 0;
    for (const Field& member : field.members)
      if (depth <= kMaxFieldDepth) most = std::max(most, grown_inside(member, bytes, depth + 1));
    return most;
  }

  std::span<const RecordOutput> outputs_;
};

uint32_t heads_in(const Field& field, uint32_t depth) {
  if (field.type == FieldType::kCollected) return collect::kSequenceHead;
  if (field.type == FieldType::kCollectedText) return collect::kTextHead;
  uint64_t heads = 0;
  for (const Field& member : field.members)
    if (depth <= kMaxFieldDepth) heads += heads_in(member, depth + 1);
  return bounded(heads);
}

}  // namespace

uint32_t least_collected(const Field& field) {
  return field.members.empty() ? 0 : bounded(uint64_t{field.size} + heads_in(field.members.front(), 0));
}

uint32_t touched_bytes(const Field& field) {
  return field.bit_size == 0 ? field.size : (uint32_t{field.bit_offset} + field.bit_size + 7) / 8;
}

uint32_t number_size(const Field& field) {
  return is_long_double(field) ? uint32_t{sizeof(double)} + kMostDigits + 1 : field.size;
}

bool is_long_double(const Field& field) {
  return field.type == FieldType::kFloat && field.size == kLongDoubleSize;
}

uint32_t most_event_bytes(const Field& field, std::span<const RecordOutput> outputs) {
  return is_plain(field.type) ? field_size(field.type) : Sizes(outputs).of(field, kNoOutput, 0);
}

void add_bit_fields(EventClass& event_class) {
  const auto& outputs = event_class.outputs;
  if (std::any_of(outputs.begin(), outputs.end(), [](const RecordOutput& o) { return o.may_fault; }))
    add_once(event_class, FieldType::kFaults, "faults");
  if (std::any_of(outputs.begin(), outputs.end(), [](const RecordOutput& o) {
        return o.is_dynamic() && !o.is_added && o.kind != RecordOutput::Kind::kCollected;
      }))
    add_once(event_class, FieldType::kCut, "cut");
}

void place_notes(std::vector<Field>& fields) {
  std::vector<Field> placed;
  for (Field& field : fields) {
    place_notes(field.members);
    const bool has_elements = field.type == FieldType::kArray || field.type == FieldType::kSequence ||
                              field.type == FieldType::kCollected;
    if (has_elements && field.members.size() > 1) field.members.resize(1);
    const bool is_cut = field.type == FieldType::kArray && !field.note.empty();
    Field more{.name = field.name + "_more", .type = FieldType::kNote, .group = field.group};
    if (is_cut) more.note = std::exchange(field.note, "");
    placed.push_back(std::move(field));
    if (is_cut) placed.push_back(std::move(more));
  }
  fields = std::move(placed);
}

void lay_out_captured(EventClass& event_class) {
  uint32_t offset = kEventHeaderSize + abi::kHitWordSize;
  for (size_t i = event_class.leads_with_pid ? 1 : 0; i < event_class.fields.size(); ++i) {
    Field& field = event_class.fields[i];
    if (!is_plain(field.type)) continue;
    field.offset = offset;
    offset += field_size(field.type);
  }
  for (RecordOutput& output : event_class.outputs) {
    output.offset = offset;
    if (output.is_added) continue;
    offset = bounded(uint64_t{offset} + (output.is_dynamic() ? kLengthSize : output.size));
  }
  event_class.fixed_size = offset;
  event_class.record_size = bounded(uint64_t{kEventHeaderSize} + fields_size(event_class));
}

uint32_t largest_captured(const EventClass& event_class) {
  uint64_t size = event_class.fixed_size;
  for (const RecordOutput& output : event_class.outputs)
    if (output.is_dynamic() && !output.is_added) size += output.most_bytes();
  return bounded((size + 7) / 8 * 8);
}

}  // namespace blip::ctf
