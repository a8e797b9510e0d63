// SPDX-License-Identifier: MIT
// For tests: fields of captured data, and records as pads write them.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "abi/layout.h"
#include "ctf/schema.h"

namespace blip::ctf::testing {

inline Field number(std::string name, FieldType type, uint32_t output, uint32_t size, bool is_signed = false,
                    uint32_t begin = 0) {
  return {.name = std::move(name),
          .type = type,
          .output = output,
          .begin = begin,
          .size = size,
          .is_signed = is_signed};
}
inline Field integer(std::string name, uint32_t output, uint32_t size, bool is_signed = true,
                     uint32_t begin = 0) {
  return number(std::move(name), FieldType::kInt, output, size, is_signed, begin);
}
inline Field text(std::string name, uint32_t output) {
  return {.name = std::move(name), .type = FieldType::kText, .output = output};
}
inline Field fixed_text(std::string name, uint32_t output, uint32_t begin, uint32_t count) {
  return {
      .name = std::move(name), .type = FieldType::kText, .output = output, .begin = begin, .count = count};
}
inline Field structure(std::string name, std::vector<Field> members, uint32_t output = kNoOutput) {
  return {
      .name = std::move(name), .type = FieldType::kStruct, .output = output, .members = std::move(members)};
}
inline Field array(std::string name, uint32_t output, uint32_t begin, uint32_t stride, uint32_t count,
                   Field element) {
  return {.name = std::move(name),
          .type = FieldType::kArray,
          .output = output,
          .begin = begin,
          .size = stride,
          .count = count,
          .members = {std::move(element)}};
}
inline Field sequence(std::string name, uint32_t output, uint32_t stride, Field element) {
  return {.name = std::move(name),
          .type = FieldType::kSequence,
          .output = output,
          .size = stride,
          .members = {std::move(element)}};
}
inline Field note(std::string name, std::string what) {
  return {.name = std::move(name), .type = FieldType::kNote, .note = std::move(what)};
}
inline Field bits(Field field, uint8_t offset, uint8_t size) {
  field.bit_offset = offset;
  field.bit_size = size;
  return field;
}
inline Field labelled(Field field, std::vector<Label> labels) {
  field.type = FieldType::kEnum;
  field.labels = std::move(labels);
  return field;
}

inline RecordOutput fixed(uint32_t size, bool may_fault = false) {
  return {.kind = RecordOutput::Kind::kFixed, .size = size, .may_fault = may_fault};
}
inline RecordOutput string(uint32_t most) {
  return {.kind = RecordOutput::Kind::kString, .size = 1, .count = most};
}
inline RecordOutput elements(uint32_t size, uint32_t most) {
  return {.kind = RecordOutput::Kind::kSequence, .size = size, .count = most};
}

inline EventClass captured_class(std::vector<RecordOutput> outputs, std::vector<Field> fields,
                                 uint16_t id = 1, std::string name = "f") {
  EventClass c{.id = id, .name = std::move(name), .fields = std::move(fields)};
  c.has_hit_word = true;
  c.outputs = std::move(outputs);
  lay_out(c);
  return c;
}

// A record of a class that is laid out.
class HitRecord {
 public:
  explicit HitRecord(const EventClass& c) : class_(c), bytes_(c.fixed_size) {}

  template <typename T>
  HitRecord& value(uint32_t output, T value, uint32_t begin = 0) {
    std::memcpy(&bytes_[class_.outputs[output].offset + begin], &value, sizeof value);
    return *this;
  }
  HitRecord& plain(size_t field, int32_t value) {
    std::memcpy(&bytes_[class_.fields[field].offset], &value, sizeof value);
    return *this;
  }
  // In the order of outputs.
  HitRecord& dynamic(uint32_t output, std::string_view data, bool cut = false) {
    value(output, static_cast<uint16_t>(data.size() | (cut ? abi::kLengthCut : 0)));
    bytes_.insert(bytes_.end(), data.begin(), data.end());
    return *this;
  }
  HitRecord& fault(uint32_t output) {
    faults_ |= uint64_t{1} << output;
    return *this;
  }
  std::vector<uint8_t> bytes() const {
    std::vector<uint8_t> all = bytes_;
    all.resize((all.size() + 7) / 8 * 8);
    const uint64_t word = faults_ << abi::kHitFaultShift | all.size();
    std::memcpy(&all[abi::kHitWordOffset], &word, sizeof word);
    return all;
  }

 private:
  const EventClass& class_;
  std::vector<uint8_t> bytes_;
  uint64_t faults_ = 0;
};

template <typename T>
std::string raw(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace blip::ctf::testing
