// SPDX-License-Identifier: MIT
#include "cli/show/captured_values.h"

#include <algorithm>

#include "cli/output/escape.h"
#include "cli/show/collected_value.h"
#include "cli/show/value_text.h"
#include "cli/show/variant_name.h"
#include "ctf/captured.h"
#include "ctf/known_fields.h"

namespace blip::cli {

namespace {

constexpr uint8_t kZeros[256] = {};

bool is_tid(const ctf::Field& field) {
  return ctf::is_plain(field.type) && (field.name == ctf::kTidField || field.name == "tid");
}

// Keys of the event itself in JSON.
bool is_of_head(const ctf::Field& field) {
  return field.is_context && field.type == ctf::FieldType::kInt32 &&
         (field.name == ctf::kPidField || field.name == ctf::kTidField);
}

uint64_t load_number(const uint8_t* from, uint32_t size, bool is_signed) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, size);
  const unsigned unused = 64 - 8 * size;
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused) : bits;
}

}  // namespace

CapturedValues::CapturedValues(const ctf::EventClass& event_class, bool json)
    : class_(event_class),
      fields_(event_class.fields),
      text_values_(false),
      values_(json ? json_.values() : text_values_) {
  if (json) make_keys();
}

void CapturedValues::make_keys() {
  const std::function<void(ctf::Field&)> make_members = [&](ctf::Field& field) {
    JsonKeys keys;
    const bool is_structure = field.type == ctf::FieldType::kStruct;
    for (ctf::Field& member : field.members) {
      if (is_structure) member.name = keys.take(member.name);
      make_members(member);
    }
  };
  EventKeys keys;
  for (ctf::Field& field : fields_) {
    if (!is_of_head(field)) field.name = keys.take(ctf::group_of(field), field.name);
    make_members(field);
  }
}

const uint8_t* CapturedValues::take(size_t size) {
  if (size > rest_.size()) {
    bad_ = true;
    return kZeros;
  }
  const uint8_t* taken = rest_.data();
  rest_ = rest_.subspan(size);
  return taken;
}

// An event ends with what tells its faults and cuts.
bool CapturedValues::render(std::span<const uint8_t> fields, const PlaceNamer& place_of) {
  rest_ = fields;
  bad_ = false;
  faults_ = cut_ = 0;
  tid_.clear();
  text_.clear();
  head_ = {.name = class_.name};
  name_.clear();
  values_.is_json() ? json_.begin() : text_values_.begin(text_, "");
  size_t end = fields.size();
  for (auto field = fields_.rbegin(); field != fields_.rend() && end >= ctf::kBitsSize; ++field) {
    if (field->type != ctf::FieldType::kFaults && field->type != ctf::FieldType::kCut) break;
    end -= ctf::kBitsSize;
    (field->type == ctf::FieldType::kCut ? cut_ : faults_) = load<uint64_t>(&fields[end]);
  }
  return std::all_of(fields_.begin(), fields_.end(),
                     [&](const ctf::Field& field) { return top(field, place_of); });
}

void CapturedValues::append_json(std::string& out, int64_t time_ns, const session::FrameNamer* name_of) {
  head_.time_ns = time_ns;
  json_.append_to(out, head_, backtrace(), name_of);
}

void CapturedValues::take_backtrace(const ctf::Field& field) {
  has_backtrace_ = true;
  backtrace_.frames.resize(load<uint16_t>(take(ctf::kCountSize)));
  for (uint64_t& frame : backtrace_.frames) frame = load<uint64_t>(take(field.size));
}

bool CapturedValues::top(const ctf::Field& field, const PlaceNamer& place_of) {
  if (field.type == ctf::FieldType::kFaults || field.type == ctf::FieldType::kCut) {
    take(ctf::kBitsSize);
  } else if (field.output < class_.outputs.size() && class_.outputs[field.output].is_added) {
    take_backtrace(field);
  } else if (ctf::is_plain(field.type)) {
    plain(field, place_of);
  } else {
    show(field, [&] { value(field, ctf::kNoOutput, false); });
  }
  return !bad_;
}

void CapturedValues::plain(const ctf::Field& field, const PlaceNamer& place_of) {
  const uint8_t* from = take(ctf::field_size(field.type));
  const bool is_pid = class_.leads_with_pid && &field == &fields_.front();
  if (is_pid) backtrace_.vpid = load<int32_t>(from);
  if (field.type == ctf::FieldType::kStackInfo) {
    backtrace_.info = load<uint64_t>(from);
    return;
  }
  if (values_.is_json() && is_of_head(field)) {
    (field.name == ctf::kPidField ? head_.pid : head_.tid) = load<int32_t>(from);
    return;
  }
  if (!values_.is_json() && is_tid(field) && tid_.empty()) {
    append_plain(tid_, field.type, from, false);
    return;
  }
  const bool is_place = class_.many_places && field.name == ctf::kIpField && place_of;
  static const HitPlace nowhere;
  const HitPlace& place = is_place ? place_of(load<uint64_t>(from)) : nowhere;
  show(field, [&] {
    values_.plain(field.type, from);
    if (!values_.is_json()) append_place(place.place, text_);
  });
  head_.place += place.place;
  if (!place.name.empty()) head_.name = name_ = place.name;
}

// A field of the event itself.
template <typename Write>
void CapturedValues::show(const ctf::Field& field, Write write) {
  if (values_.is_json()) return json_.field(ctf::group_of(field), field.name, write);
  const size_t before = text_.size();
  values_.member(field.name, text_.empty(), write);
  if (field.is_implicit) text_.resize(before);
}

void CapturedValues::value(const ctf::Field& field, uint32_t output, bool is_element) {
  const bool own = field.output != ctf::kNoOutput && !is_element;
  if (own) output = field.output;
  const ValueWriter::Mark before = values_.mark();
  switch (field.type) {
    case ctf::FieldType::kStruct:
      structure(field, output, is_element);
      break;
    case ctf::FieldType::kArray:
      elements(field, field.count);
      break;
    case ctf::FieldType::kSequence:
      elements(field, load<uint16_t>(take(ctf::kCountSize)));
      if (is_cut(output)) values_.cut();
      break;
    case ctf::FieldType::kCollected:
      collected(field);
      break;
    case ctf::FieldType::kCollectedText:
      collected_text();
      break;
    case ctf::FieldType::kText:
    case ctf::FieldType::kNote:
      string(field, output, is_element);
      break;
    default:
      number(field);
  }
  if (!own || !is_fault(output)) return;
  values_.rewind(before);
  const bool is_null = field.type == ctf::FieldType::kText && is_cut(output);
  is_null ? values_.null() : values_.note(kBadAddress);
}

void CapturedValues::long_double() {
  take(sizeof(double));
  const auto end = std::find(rest_.begin(), rest_.end(), 0);
  const auto size = static_cast<size_t>(end - rest_.begin());
  const auto* digits = reinterpret_cast<const char*>(take(size + 1));
  values_.digits({digits, bad_ ? 0 : size});
}

void CapturedValues::number(const ctf::Field& field) {
  if (ctf::is_long_double(field)) return long_double();
  const uint32_t size = ctf::number_size(field);
  const uint8_t* from = take(size);
  if (field.type == ctf::FieldType::kFloat) {
    if (size == sizeof(float)) return values_.real(load<float>(from));
    return values_.real(load<double>(from));
  }
  const bool is_hex = field.is_hex && !values_.is_json();
  const uint64_t bits = load_number(from, size, field.is_signed && !is_hex);
  if (field.type == ctf::FieldType::kBool) return values_.truth(bits);
  if (field.type == ctf::FieldType::kChar)
    return values_.character(static_cast<uint8_t>(bits), field.is_signed);
  const auto label = std::find_if(field.labels.begin(), field.labels.end(), [&](const ctf::Label& l) {
    return load_number(reinterpret_cast<const uint8_t*>(&l.value), size, field.is_signed) == bits;
  });
  if (label != field.labels.end()) {
    values_.labelled(label->name, bits, field.is_signed);
  } else {
    values_.integer(bits, field.is_signed, is_hex);
  }
}

void CapturedValues::collected(const ctf::Field& field) {
  const auto state = static_cast<collect::State>(*take(1));
  const auto size = load<uint64_t>(take(sizeof(uint64_t)));
  const auto count = load<uint16_t>(take(ctf::kCountSize));
  write_collected(values_, state, size, count, [&](uint64_t) {
    if (!bad_) value(field.members.front(), ctf::kNoOutput, true);
  });
}

void CapturedValues::collected_text() {
  const uint8_t state = *take(1);
  const std::string_view text = take_string();
  write_collected_text(values_, state, text);
}

// Finds the member of a Rust enum that is there: the one that the first member names or, if that has no name,
// the one that no value names.
std::optional<std::string> CapturedValues::variant_of(const ctf::Field& field) const {
  const auto& members = field.members;
  if (members.empty() || members[0].name != kVariant || members[0].type != ctf::FieldType::kEnum ||
      rest_.size() < members[0].size || is_fault(members[0].output))
    return std::nullopt;
  const auto& labels = members[0].labels;
  const auto is_label = [&](const ctf::Field& member) {
    return std::any_of(labels.begin(), labels.end(), [&](const auto& l) { return l.name == member.name; });
  };
  const auto other = std::find_if_not(members.begin() + 1, members.end(), is_label);
  if (other != members.end() && !std::all_of(other + 1, members.end(), is_label)) return std::nullopt;
  const uint64_t bits = load_number(rest_.data(), members[0].size, false);
  for (const ctf::Label& label : labels)
    if (load_number(reinterpret_cast<const uint8_t*>(&label.value), members[0].size, false) == bits)
      return label.name;
  return other == members.end() ? "" : other->name;
}

void CapturedValues::which(const ctf::Field& field, const std::string& variant) {
  const uint64_t bits = load_number(take(field.size), field.size, false);
  variant.empty() ? values_.integer(bits, false, false) : values_.labelled(variant, bits, false);
}

void CapturedValues::structure(const ctf::Field& field, uint32_t output, bool is_element) {
  const std::optional<std::string> variant = variant_of(field);
  values_.open_structure();
  for (const ctf::Field& member : field.members) {
    const bool is_first = &member == &field.members.front();
    const ValueWriter::Mark before = values_.mark();
    values_.member(member.name, is_first,
                   [&] { is_first&& variant ? which(member, *variant) : value(member, output, is_element); });
    if (variant && !is_first && member.name != *variant) values_.rewind(before);
  }
  values_.close_structure(field.members.empty());
}

void CapturedValues::elements(const ctf::Field& field, uint32_t count) {
  values_.open_list();
  for (uint32_t i = 0; i < count && !bad_; ++i)
    values_.element(i, [&] { value(field.members.front(), ctf::kNoOutput, true); });
  values_.close_list(count == 0);
}

std::string_view CapturedValues::take_string() {
  const auto end = std::find(rest_.begin(), rest_.end(), 0);
  const auto size = static_cast<size_t>(end - rest_.begin());
  const uint8_t* text = take(size + 1);
  return {reinterpret_cast<const char*>(text), bad_ ? 0 : size};
}

void CapturedValues::string(const ctf::Field& field, uint32_t output, bool is_element) {
  const std::string_view text = take_string();
  if (field.type == ctf::FieldType::kNote) return values_.note(text);
  values_.text(text);
  if (!is_element && is_cut(output)) values_.cut();
}

bool CapturedValues::is_cut(uint32_t output) const {
  return output < class_.outputs.size() && (cut_ >> output & 1) != 0;
}

bool CapturedValues::is_fault(uint32_t output) const {
  return output < class_.outputs.size() && (faults_ >> output & 1) != 0;
}

}  // namespace blip::cli
