// SPDX-License-Identifier: MIT
#include "cli/captured_values.h"

#include <algorithm>

#include "cli/escape.h"
#include "cli/text_list.h"
#include "cli/value_text.h"
#include "ctf/captured.h"

namespace blip::cli {

namespace {

constexpr uint8_t kZeros[256] = {};

bool is_tid(const ctf::Field& field) { return field.name == "vtid" || field.name == "tid"; }

uint64_t load_number(const uint8_t* from, uint32_t size, bool is_signed) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, size);
  const unsigned unused = 64 - 8 * size;
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused) : bits;
}

}  // namespace

CapturedValues::CapturedValues(const ctf::EventClass& event_class, bool json)
    : class_(event_class), json_(json) {}

const uint8_t* CapturedValues::take(size_t size) {
  if (size > rest_.size()) {
    bad_ = true;
    return kZeros;
  }
  const uint8_t* taken = rest_.data();
  rest_ = rest_.subspan(size);
  return taken;
}

// What tells faults and cuts is at the end of an event.
bool CapturedValues::render(std::span<const uint8_t> fields, const PlaceAppender& append_place) {
  rest_ = fields;
  bad_ = false;
  faults_ = cut_ = 0;
  tid_.clear();
  text_.clear();
  cut_names_.clear();
  size_t end = fields.size();
  for (auto field = class_.fields.rbegin(); field != class_.fields.rend() && end >= ctf::kBitsSize; ++field) {
    if (field->type != ctf::FieldType::kFaults && field->type != ctf::FieldType::kCut) break;
    end -= ctf::kBitsSize;
    (field->type == ctf::FieldType::kCut ? cut_ : faults_) = load<uint64_t>(&fields[end]);
  }
  for (const ctf::Field& field : class_.fields)
    if (!top(field, append_place)) return false;
  if (!cut_names_.empty()) text_ += ",\"cut\":[" + cut_names_ + "]";
  return true;
}

void CapturedValues::take_backtrace(const ctf::Field& field) {
  has_backtrace_ = true;
  backtrace_.frames.resize(load<uint16_t>(take(ctf::kCountSize)));
  for (uint64_t& frame : backtrace_.frames) frame = load<uint64_t>(take(field.size));
}

bool CapturedValues::top(const ctf::Field& field, const PlaceAppender& append_place) {
  const size_t before = text_.size();
  const bool own_place = is_tid(field) && tid_.empty() && ctf::is_plain(field.type);
  if (field.type == ctf::FieldType::kFaults || field.type == ctf::FieldType::kCut) {
    take(ctf::kBitsSize);
  } else if (field.output < class_.outputs.size() && class_.outputs[field.output].is_added) {
    take_backtrace(field);
  } else if (ctf::is_plain(field.type)) {
    const uint8_t* from = take(ctf::field_size(field.type));
    if (class_.leads_with_pid && &field == &class_.fields.front()) backtrace_.vpid = load<int32_t>(from);
    if (field.type == ctf::FieldType::kStackInfo) {
      backtrace_.info = load<uint64_t>(from);
      return !bad_;
    }
    if (own_place) {
      append_plain(tid_, field.type, from, json_);
    } else if (json_ || !field.is_implicit) {
      lead(field.name, text_.empty() && !json_);
      append_plain(text_, field.type, from, json_);
      if (class_.many_places && field.name == "ip") append_place(load<uint64_t>(from), text_);
    }
  } else {
    lead(field.name, text_.empty() && !json_);
    value(field, ctf::kNoOutput, false);
    if (field.is_implicit && !json_) text_.resize(before);
  }
  return !bad_;
}

void CapturedValues::lead(std::string_view name, bool is_first) {
  if (json_) {
    if (!is_first) text_ += ',';
    append_json_string(text_, name);
    text_ += ':';
    return;
  }
  if (!is_first) text_ += ", ";
  if (name.empty()) return;
  append_escaped(text_, name);
  text_ += " = ";
}

void CapturedValues::value(const ctf::Field& field, uint32_t output, bool is_element) {
  const bool own = field.output != ctf::kNoOutput && !is_element;
  if (own) output = field.output;
  const size_t before = text_.size();
  switch (field.type) {
    case ctf::FieldType::kStruct:
      structure(field, output, is_element);
      break;
    case ctf::FieldType::kArray:
      elements(field, field.count);
      break;
    case ctf::FieldType::kSequence:
      elements(field, load<uint16_t>(take(ctf::kCountSize)));
      if (is_cut(output)) tell_cut(field);
      break;
    case ctf::FieldType::kText:
    case ctf::FieldType::kNote:
      string(field, output, is_element);
      break;
    default:
      number(field);
  }
  if (own && (faults_ >> output & 1) != 0) {
    text_.resize(before);
    text_ += json_ ? "null" : kBadAddress;
  }
}

void CapturedValues::number(const ctf::Field& field) {
  const uint32_t size = ctf::number_size(field);
  const uint8_t* from = take(size);
  if (field.type == ctf::FieldType::kFloat) {
    if (size == sizeof(float)) return append_float(text_, load<float>(from), json_);
    return append_float(text_, load<double>(from), json_);
  }
  const uint64_t bits = load_number(from, size, field.is_signed && !field.is_hex);
  if (field.type == ctf::FieldType::kBool) return append_truth(text_, bits);
  if (field.type == ctf::FieldType::kChar)
    return append_character(text_, static_cast<uint8_t>(bits), field.is_signed, json_);
  const auto label = std::find_if(field.labels.begin(), field.labels.end(), [&](const ctf::Label& l) {
    return load_number(reinterpret_cast<const uint8_t*>(&l.value), size, field.is_signed) == bits;
  });
  if (label != field.labels.end()) {
    append_labelled(text_, label->name, bits, field.is_signed, json_);
  } else {
    append_integer(text_, bits, field.is_signed, field.is_hex, json_);
  }
}

// Those that are there of the first few.
void CapturedValues::text_list(const ctf::Field& field) {
  const size_t before = text_.size();
  const ctf::Field& told = field.members.front();
  const auto size = load<uint64_t>(take(told.size));
  text_ += json_ ? "[" : "[ ";
  size_t end = text_.size();
  for (size_t i = 1; i < field.members.size(); ++i) {
    if (i > 1) text_ += json_ ? "," : ", ";
    value(field.members[i], ctf::kNoOutput, false);
    if (i <= size) end = text_.size();
  }
  text_.resize(end);
  if (size >= field.members.size()) json_ ? tell_cut(field) : void(text_ += ", ...");
  text_ += json_ ? "]" : size == 0 ? "]" : " ]";
  if (told.output < class_.outputs.size() && (faults_ >> told.output & 1) != 0) {
    text_.resize(before);
    text_ += json_ ? "null" : kBadAddress;
  }
}

void CapturedValues::structure(const ctf::Field& field, uint32_t output, bool is_element) {
  if (!is_element && field.members.size() > 1 && field.members[0].size == sizeof(uint64_t) &&
      field.members[0].type == ctf::FieldType::kInt &&
      is_text_list(field.members[0].name, field.members[1].name))
    return text_list(field);
  text_ += json_ ? "{" : "{ ";
  for (const ctf::Field& member : field.members) {
    lead(member.name, &member == &field.members.front());
    value(member, output, is_element);
  }
  text_ += json_ ? "}" : field.members.empty() ? "}" : " }";
}

void CapturedValues::elements(const ctf::Field& field, uint32_t count) {
  text_ += json_ ? "[" : "[ ";
  for (uint32_t i = 0; i < count && !bad_; ++i) {
    if (i != 0) text_ += json_ ? "," : ", ";
    value(field.members.front(), ctf::kNoOutput, true);
  }
  text_ += json_ ? "]" : count == 0 ? "]" : " ]";
}

void CapturedValues::string(const ctf::Field& field, uint32_t output, bool is_element) {
  const auto end = std::find(rest_.begin(), rest_.end(), 0);
  const auto size = static_cast<size_t>(end - rest_.begin());
  const std::string_view text(reinterpret_cast<const char*>(take(size + 1)), bad_ ? 0 : size);
  if (field.type == ctf::FieldType::kNote && !json_) {
    append_escaped(text_, text);
    return;
  }
  const bool cut = !is_element && field.type == ctf::FieldType::kText && is_cut(output);
  append_quoted(text_, text, false, json_);
  if (cut) tell_cut(field);
}

bool CapturedValues::is_cut(uint32_t output) const {
  return output < class_.outputs.size() && (cut_ >> output & 1) != 0;
}

void CapturedValues::tell_cut(const ctf::Field& field) {
  if (!json_) {
    text_ += "...";
    return;
  }
  if (!cut_names_.empty()) cut_names_ += ',';
  append_json_string(cut_names_, field.name);
}

}  // namespace blip::cli
