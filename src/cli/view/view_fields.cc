// SPDX-License-Identifier: MIT
#include "cli/view/view_fields.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/unknown.h"
#include "cli/output/escape.h"
#include "cli/show/collected_value.h"
#include "cli/show/value_text.h"
#include "cli/show/variant_name.h"
#include "cli/view/babeltrace.h"
#include "ctf/known_fields.h"
#include "ctf/long_double.h"

namespace blip::cli {

namespace {

constexpr std::string_view kNoBit = "(none)";
constexpr uint64_t kCharacters = 256;
constexpr unsigned kBitsOfWord = 64;

bool is(const bt_field* field, bt_field_class_type type) {
  return bt_field_class_type_is(bt::field_get_class_type(field), type);
}

uint64_t member_count(const bt_field* structure) {
  return bt::field_class_structure_get_member_count(bt::field_borrow_class_const(structure));
}
const char* member_name(const bt_field* structure, uint64_t index) {
  return bt::field_class_structure_member_get_name(
      bt::field_class_structure_borrow_member_by_index_const(bt::field_borrow_class_const(structure), index));
}
const bt_field* member(const bt_field* structure, uint64_t index) {
  return bt::field_structure_borrow_member_field_by_index_const(structure, index);
}

// That of a sequence, whose elements come next.
bool is_length(const bt_field* structure, uint64_t index) {
  if (index + 1 == member_count(structure) ||
      !is(member(structure, index + 1), BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY))
    return false;
  return member_name(structure, index) == "_" + std::string(member_name(structure, index + 1)) + "_length";
}

std::string_view label_of_bit(const bt_field_class* kind, uint64_t index) {
  const auto* mapping = bt::field_class_enumeration_unsigned_borrow_mapping_by_index_const(kind, index);
  return bt::field_class_enumeration_mapping_get_label(
      bt_field_class_enumeration_unsigned_mapping_as_mapping_const(mapping));
}

// blip's own: numbers whose bits have the names of fields.
bool tells_bits(const bt_field* field) {
  if (!is(field, BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION)) return false;
  const bt_field_class* kind = bt::field_borrow_class_const(field);
  return bt::field_class_enumeration_get_mapping_count(kind) != 0 && label_of_bit(kind, 0) == kNoBit;
}

bool is_long_double(const bt_field* structure) {
  return member_count(structure) == 2 && member_name(structure, 0) == ctf::kNearestDouble &&
         member_name(structure, 1) == ctf::kAllDigits && is(member(structure, 1), BT_FIELD_CLASS_TYPE_STRING);
}

// The first label of a number; empty: it has none.
std::string_view label_of(const bt_field* field) {
  bt_field_class_enumeration_mapping_label_array labels = nullptr;
  uint64_t count = 0;
  const auto status = is(field, BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION)
                          ? bt::field_enumeration_unsigned_get_mapping_labels(field, &labels, &count)
                          : bt::field_enumeration_signed_get_mapping_labels(field, &labels, &count);
  return status == BT_FIELD_ENUMERATION_GET_MAPPING_LABELS_STATUS_OK && count != 0 ? labels[0] : "";
}

// As CapturedValues::variant_of.
std::optional<std::string_view> variant_of(const bt_field* structure) {
  if (member_count(structure) == 0 || member_name(structure, 0) != kVariant ||
      !is(member(structure, 0), BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION))
    return std::nullopt;
  const bt_field_class* kind = bt::field_borrow_class_const(member(structure, 0));
  std::set<std::string_view> labels;
  for (uint64_t i = 0; i < bt::field_class_enumeration_get_mapping_count(kind); ++i)
    labels.insert(label_of_bit(kind, i));
  std::string_view other;
  for (uint64_t i = 1; i < member_count(structure); ++i) {
    if (is_length(structure, i) || labels.contains(member_name(structure, i))) continue;
    if (!other.empty()) return std::nullopt;
    other = member_name(structure, i);
  }
  const std::string_view told = label_of(member(structure, 0));
  return told.empty() ? other : told;
}

// A structure that blip made of what it collected: no program's labels have a blank.
bool is_collected(const bt_field* structure) {
  if (member_count(structure) < 2 || std::string_view(member_name(structure, 0)) != "state" ||
      !is(member(structure, 0), BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION))
    return false;
  const bt_field_class* kind = bt::field_borrow_class_const(member(structure, 0));
  const uint64_t labels = bt::field_class_enumeration_get_mapping_count(kind);
  return labels == ctf::kEmptyText + 1 && label_of_bit(kind, labels - 1) == "empty text";
}

// Keys of the event itself in JSON. Only contexts are: an argument may have any name.
bool is_of_head(const bt_field* structure, uint64_t index) {
  const std::string_view name = member_name(structure, index);
  const bt_field* field = member(structure, index);
  if (name == ctf::kCpuField) return is(field, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
  return (name == ctf::kPidField || name == ctf::kTidField) && is(field, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
}

bool is_of_returns(std::string_view name) {
  return name == "latency_ns" || name == "depth" || name == "tail";
}

bool is_about_packets(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {"timestamp_begin",  "timestamp_end",
                                                      "content_size",     "packet_size",
                                                      "events_discarded", "packet_seq_num"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace

ViewFields::Paths ViewFields::set_bits(const bt_field* field) {
  Paths paths;
  const uint64_t bits = bt::field_integer_unsigned_get_value(field);
  if (bits == 0) return paths;
  const bt_field_class* kind = bt::field_borrow_class_const(field);
  for (uint64_t i = 0; i < bt::field_class_enumeration_get_mapping_count(kind); ++i) {
    const auto* mapping = bt::field_class_enumeration_unsigned_borrow_mapping_by_index_const(kind, i);
    const auto* ranges = bt::field_class_enumeration_unsigned_mapping_borrow_ranges_const(mapping);
    const uint64_t bit = bt::integer_range_unsigned_get_lower(
        bt::integer_range_set_unsigned_borrow_range_by_index_const(ranges, 0));
    if ((bits & bit) != 0) paths.emplace(label_of_bit(kind, i));
  }
  return paths;
}

void ViewFields::begin(const bt_field* payload) {
  faults_.clear();
  cut_.clear();
  backtrace_.reset();
  if (!payload) return;
  for (uint64_t i = member_count(payload); i-- > 0 && tells_bits(member(payload, i));) {
    const bool is_cut = std::string_view(member_name(payload, i)).starts_with("cut");
    (is_cut ? cut_ : faults_) = set_bits(member(payload, i));
  }
}

void ViewFields::begin(const bt_event* event) {
  const bt_field* payload = bt::event_borrow_payload_field_const(event);
  begin(payload);
  captured_ = nullptr;
  const char* uri = hex_ ? bt::event_class_get_emf_uri(bt::event_borrow_class_const(event)) : nullptr;
  for (const ctf::GroupedName& name :
       ctf::parse_payload_uri(uri ? uri : "").value_or(std::vector<ctf::GroupedName>()))
    if (name.group == ctf::FieldGroup::kArgument || name.group == ctf::FieldGroup::kLocal ||
        name.group == ctf::FieldGroup::kCapture)
      captured_ = payload;
}

void ViewFields::append_scope(std::string& out, const bt_field* structure) {
  values_.begin(out, "");
  append_structure(structure, "");
}

bool ViewFields::append_packet_context(std::string& out, const bt_field* structure) {
  bool is_first = true;
  values_.begin(out, "");
  for (uint64_t i = 0; i < member_count(structure); ++i) {
    if (is_about_packets(member_name(structure, i))) continue;
    (void)take_backtrace(structure, i);  // the process
    if (is_first) out += "{ ";
    values_.member(member_name(structure, i), is_first, [&] { append(member(structure, i), ""); });
    is_first = false;
  }
  if (!is_first) out += " }";
  return !is_first;
}

// True if the field was a backtrace or a part of one: it is shown below the event, or not at all.
bool ViewFields::take_backtrace(const bt_field* structure, uint64_t index) {
  const std::string_view name = member_name(structure, index);
  const bt_field* field = member(structure, index);
  if (name == ctf::kPidField && is(field, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
    vpid_ = static_cast<int32_t>(bt::field_integer_signed_get_value(field));
  if (name == ctf::kStackInfoField && is(field, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
    backtrace_.emplace(
        Backtrace{.frames = {}, .info = bt::field_integer_unsigned_get_value(field), .vpid = vpid_});
    return true;
  }
  if (!backtrace_ || name != ctf::kBacktraceField || !is(field, BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY))
    return false;
  for (uint64_t i = 0; i < bt::field_array_get_length(field); ++i)
    backtrace_->frames.push_back(
        bt::field_integer_unsigned_get_value(bt::field_array_borrow_element_field_by_index_const(field, i)));
  return true;
}

void ViewFields::append_marked(const bt_field* field, const std::string& path) {
  if (faults_.contains(path)) {
    const bool is_null = cut_.contains(path) && is(field, BT_FIELD_CLASS_TYPE_STRING);
    is_null ? values_.null() : values_.note(kBadAddress);
    return;
  }
  append(field, path);
  if (cut_.contains(path)) values_.cut();
}

// { state, text } or { state, size, length, elements }
void ViewFields::append_collected(const bt_field* field) {
  constexpr uint64_t kText = 2, kElements = 3;
  const auto told = static_cast<uint8_t>(bt::field_integer_unsigned_get_value(member(field, 0)));
  const auto state = static_cast<collect::State>(told);
  if (member_count(field) == kText)
    return write_collected_text(values_, told, bt::field_string_get_value(member(field, 1)));
  const uint64_t size = bt::field_integer_unsigned_get_value(member(field, 1));
  const bt_field* elements = member(field, kElements);
  write_collected(values_, state, size, bt::field_array_get_length(elements), [&](uint64_t i) {
    append(bt::field_array_borrow_element_field_by_index_const(elements, i), "[]");
  });
}

void ViewFields::append_structure(const bt_field* field, const std::string& path) {
  if (is_collected(field)) return append_collected(field);
  if (is_long_double(field)) return values_.digits(bt::field_string_get_value(member(field, 1)));
  auto variant = variant_of(field);
  if (variant && faults_.contains(path.empty() ? std::string(kVariant) : path + "." + std::string(kVariant)))
    variant.reset();
  values_.open_structure();
  bool is_first = true;
  for (uint64_t i = 0; i < member_count(field); ++i) {
    const bt_field* inner = member(field, i);
    if (is_length(field, i) || tells_bits(inner)) continue;
    if (variant && i != 0 && *variant != member_name(field, i)) continue;
    if (path.empty() && take_backtrace(field, i)) continue;
    const char* name = member_name(field, i);
    const std::string inner_path = has_marks() ? (path.empty() ? name : path + "." + name) : "";
    if (path.empty() && field == captured_) is_hex_ = !is_of_returns(name);
    values_.member(name, is_first, [&] {
      if (variant && i == 0 && !variant->empty())
        values_.labelled(*variant, bt::field_integer_unsigned_get_value(inner), false);
      else
        append_marked(inner, inner_path);
    });
    is_first = false;
  }
  if (field == captured_) is_hex_ = false;
  values_.close_structure(is_first);
}

void ViewFields::append_array(const bt_field* field) {
  const uint64_t count = bt::field_array_get_length(field);
  values_.open_list();
  for (uint64_t i = 0; i < count; ++i)
    values_.element(i, [&] { append(bt::field_array_borrow_element_field_by_index_const(field, i), "[]"); });
  values_.close_list(count == 0);
}

void ViewFields::append_enumeration(const bt_field* field, uint64_t bits, bool is_signed) {
  const uint64_t labels = bt::field_class_enumeration_get_mapping_count(bt::field_borrow_class_const(field));
  const std::string_view label = label_of(field);
  if (labels == kCharacters) {
    values_.character(static_cast<uint8_t>(bits), is_signed);
  } else if (label.empty()) {
    values_.integer(bits, is_signed, false);
  } else if (labels == 2 && (label == "true" || label == "false")) {
    values_.truth(label == "true" ? 1 : 0);
  } else {
    values_.labelled(label, bits, is_signed);
  }
}

void ViewFields::append_number(const bt_field* field) {
  const bool is_signed = is(field, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
  const uint64_t bits = is_signed ? static_cast<uint64_t>(bt::field_integer_signed_get_value(field))
                                  : bt::field_integer_unsigned_get_value(field);
  if (is(field, BT_FIELD_CLASS_TYPE_ENUMERATION)) return append_enumeration(field, bits, is_signed);
  const bt_field_class* kind = bt::field_borrow_class_const(field);
  const bool is_hex = is_hex_ || bt::field_class_integer_get_preferred_display_base(kind) ==
                                     BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL;
  if (!is_hex || values_.is_json()) return values_.integer(bits, is_signed, false);
  const unsigned unused =
      kBitsOfWord - static_cast<unsigned>(bt::field_class_integer_get_field_value_range(kind));
  values_.integer(bits << unused >> unused, false, true);
}

void ViewFields::append(const bt_field* field, const std::string& path) {
  if (is(field, BT_FIELD_CLASS_TYPE_INTEGER)) {
    append_number(field);
  } else if (is(field, BT_FIELD_CLASS_TYPE_STRING)) {
    const std::string_view text = bt::field_string_get_value(field);
    is_unknown_text(text) ? values_.note(text) : values_.text(text);
  } else if (is(field, BT_FIELD_CLASS_TYPE_STRUCTURE)) {
    append_structure(field, path);
  } else if (is(field, BT_FIELD_CLASS_TYPE_ARRAY)) {
    append_array(field);
  } else if (is(field, BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)) {
    values_.real(bt::field_real_single_precision_get_value(field));
  } else if (is(field, BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL)) {
    values_.real(bt::field_real_double_precision_get_value(field));
  } else if (is(field, BT_FIELD_CLASS_TYPE_BOOL)) {
    values_.truth(bt::field_bool_get_value(field) ? 1 : 0);
  } else if (is(field, BT_FIELD_CLASS_TYPE_VARIANT)) {
    append(bt::field_variant_borrow_selected_option_field_const(field), path);
  } else {
    values_.note("<unknown type>");  // blip writes no such
  }
}

// The names in the URI are those of the payload's fields in their order, of which lengths are none.
const ViewFields::ScopeKeys& ViewFields::keys_of(const bt_event_class* event_class, const Scopes& scopes) {
  const auto [entry, is_new] = keys_.try_emplace(event_class);
  if (!is_new) return entry->second;
  const char* uri = bt::event_class_get_emf_uri(event_class);
  const auto names = ctf::parse_payload_uri(uri ? uri : "");
  EventKeys keys;
  size_t scope_number = 0;
  for (const bt_field* scope :
       {scopes.packet_context, scopes.common_context, scopes.specific_context, scopes.payload}) {
    const bool is_payload = scope && scope == scopes.payload;
    size_t position = 0;
    for (uint64_t i = 0; scope && i < member_count(scope); ++i) {
      if (is_length(scope, i)) continue;
      ctf::GroupedName key{is_payload ? ctf::FieldGroup::kDetail : ctf::FieldGroup::kContext,
                           member_name(scope, i)};
      if (is_payload && names && position < names->size()) key = (*names)[position];
      ++position;
      const bool is_packets = scope == scopes.packet_context && is_about_packets(key.name);
      if (is_packets || tells_bits(member(scope, i))) continue;
      const bool of_head = !is_payload && is_of_head(scope, i);
      if (!of_head) key.name = keys.take(key.group, key.name);
      entry->second[scope_number].push_back({i, of_head, std::move(key)});
    }
    ++scope_number;
  }
  return entry->second;
}

void ViewFields::json_scope(const bt_field* structure, const std::vector<Shown>& keys,
                            EventJson::Head& head) {
  for (const auto& [index, of_head, key] : keys) {
    if (take_backtrace(structure, index)) continue;
    const bt_field* field = member(structure, index);
    const std::string_view name = member_name(structure, index);
    if (of_head) {
      if (name == ctf::kCpuField) {
        head.cpu = bt::field_integer_unsigned_get_value(field);
      } else {
        (name == ctf::kPidField ? head.pid : head.tid) = bt::field_integer_signed_get_value(field);
      }
      continue;
    }
    json_.field(key.group, key.name, [&] { append_marked(field, has_marks() ? std::string(name) : ""); });
  }
}

void ViewFields::append_json(std::string& out, const bt_event* event, const Scopes& scopes,
                             const Named& named, const session::FrameNamer* name_of) {
  const bt_event_class* event_class = bt::event_borrow_class_const(event);
  EventJson::Head head{.time_ns = named.time_ns, .name = named.name, .place = named.place};
  const ScopeKeys& keys = keys_of(event_class, scopes);
  begin(scopes.payload);
  json_.begin();
  size_t scope_number = 0;
  for (const bt_field* scope :
       {scopes.packet_context, scopes.common_context, scopes.specific_context, scopes.payload}) {
    if (scope) json_scope(scope, keys[scope_number], head);
    ++scope_number;
  }
  json_.append_to(out, head, backtrace_ ? &*backtrace_ : nullptr, name_of);
}

}  // namespace blip::cli
