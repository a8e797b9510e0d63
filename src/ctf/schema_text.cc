// SPDX-License-Identifier: MIT
#include "ctf/schema_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "abi/layout.h"
#include "ctf/captured.h"

namespace blip::ctf {

namespace {

constexpr FieldType kFirstTyped = FieldType::kInt, kLastType = FieldType::kCollectedText;

FieldType type_of(Words& words, FieldType first) {
  return static_cast<FieldType>(words.number(static_cast<int>(first), static_cast<int>(kLastType)));
}

// The last captured field at `depth`; nullptr: there is no such.
Field* last_typed(EventClass& c, uint32_t depth) {
  std::vector<Field>* list = &c.fields;
  for (; depth > 0 && !list->empty(); --depth) list = &list->back().members;
  return list->empty() ? nullptr : &list->back();
}

bool usable(EventClass& c) {
  if (c.leads_with_pid &&
      (c.fields.empty() || c.fields[0].type != FieldType::kInt32 || !c.fields[0].is_context))
    return false;
  if (!c.has_hit_word &&
      std::any_of(c.fields.begin(), c.fields.end(), [](const Field& f) { return !is_plain(f.type); }))
    return false;
  lay_out(c);
  return c.has_hit_word ? check_outputs(c).has_value() : c.record_size <= abi::kMaxRecordSize;
}

void add_typed(std::string& text, const Field& f, uint32_t depth) {
  text +=
      fmt::format("typed {} {} {:d} {:d} {} {} {} {:d} {:d} {} {} {} {} {}\n", depth,
                  static_cast<int>(f.type), f.is_context, f.is_implicit, f.output, f.begin, f.size,
                  f.is_signed, f.is_hex, f.bit_offset, f.bit_size, f.count, to_word(f.name), to_word(f.note));
  for (const Label& label : f.labels) text += fmt::format("label {} {}\n", label.value, to_word(label.name));
  for (const Field& member : f.members) add_typed(text, member, depth + 1);
}

void add_field(std::string& text, const EventClass& c, const Field& f) {
  if (!is_plain(f.type)) {
    if (!c.of_blip) add_typed(text, f, 0);  // no ring holds one of those
    return;
  }
  text += fmt::format("field {} {:d} {:d} {}\n", static_cast<int>(f.type), f.is_context, f.is_implicit,
                      to_word(f.name));
  if (f.is_duration) text += "duration\n";
}

}  // namespace

std::string schema_text(std::span<const EventClass> classes) {
  std::string text;
  for (const EventClass& c : classes) {
    text += fmt::format("class {} {:d} {:d} {:d} {}\n", c.id, c.leads_with_pid, c.many_places, c.of_blip,
                        to_word(c.name));
    if (c.has_hit_word) text += "hit\n";
    if (c.tells_files) text += "files\n";
    for (const RecordOutput& o : c.outputs)
      text += fmt::format("output {} {} {} {:d} {:d}\n", static_cast<int>(o.kind), o.size, o.count,
                          o.may_fault, o.is_added);
    for (const Field& f : c.fields) add_field(text, c, f);
  }
  return text;
}

bool SchemaReader::take(std::string_view kind, Words& words) {
  if (kind == "class") return take_class(words);
  if (classes_.empty()) return false;
  if (kind == "field") return take_field(words);
  if (kind == "duration") return mark_duration();
  if (kind == "hit") return classes_.back().has_hit_word = true;
  if (kind == "files") return classes_.back().tells_files = true;
  if (kind == "output") return take_output(words);
  if (kind == "typed") return take_typed(words);
  return kind == "label" && take_label(words);
}

std::optional<std::vector<EventClass>> SchemaReader::finish() {
  for (EventClass& c : classes_)
    if (!usable(c)) return std::nullopt;
  return std::move(classes_);
}

// Ids follow each other, so that one can be used as an index.
bool SchemaReader::take_class(Words& words) {
  if (classes_.size() >= abi::kMaxClasses - abi::kFirstClass) return false;
  EventClass c;
  const auto id = static_cast<uint16_t>(abi::kFirstClass + classes_.size());
  c.id = words.number<uint16_t>(id, id);
  c.leads_with_pid = words.flag();
  c.many_places = words.flag();
  c.of_blip = words.flag();
  c.name = words.text();
  classes_.push_back(std::move(c));
  return !words.bad();
}

bool SchemaReader::take_field(Words& words) {
  Field field{};
  field.type = type_of(words, FieldType{});
  if (!is_plain(field.type)) return false;
  field.is_context = words.flag();
  field.is_implicit = words.flag();
  field.name = words.text();
  classes_.back().fields.push_back(std::move(field));
  return !words.bad();
}

bool SchemaReader::mark_duration() {
  if (classes_.back().fields.empty()) return false;
  Field& field = classes_.back().fields.back();
  return field.is_duration = field.type == FieldType::kUint64;
}

bool SchemaReader::take_output(Words& words) {
  RecordOutput output;
  output.kind =
      static_cast<RecordOutput::Kind>(words.number(0, static_cast<int>(RecordOutput::Kind::kCollected)));
  output.size = words.number<uint32_t>(0, UINT32_MAX);
  output.count = words.number<uint32_t>(0, UINT32_MAX);
  output.may_fault = words.flag();
  output.is_added = words.flag();
  classes_.back().outputs.push_back(output);
  return !words.bad();
}

bool SchemaReader::take_typed(Words& words) {
  EventClass& c = classes_.back();
  depth_ = words.number<uint32_t>(0, kMaxFieldDepth);
  Field* outer = depth_ == 0 ? nullptr : last_typed(c, depth_ - 1);
  if (depth_ != 0 && !outer) return false;
  Field field{};
  field.type = type_of(words, kFirstTyped);
  if (is_plain(field.type)) return false;
  field.is_context = words.flag();
  field.is_implicit = words.flag();
  field.output = words.number<uint32_t>(0, UINT32_MAX);
  field.begin = words.number<uint32_t>(0, UINT32_MAX);
  field.size = words.number<uint32_t>(0, UINT32_MAX);
  field.is_signed = words.flag();
  field.is_hex = words.flag();
  field.bit_offset = words.number<uint8_t>(0, UINT8_MAX);
  field.bit_size = words.number<uint8_t>(0, UINT8_MAX);
  field.count = words.number<uint32_t>(0, UINT32_MAX);
  field.name = words.text();
  field.note = words.text();
  (outer ? outer->members : c.fields).push_back(std::move(field));
  return !words.bad();
}

bool SchemaReader::take_label(Words& words) {
  Field* field = last_typed(classes_.back(), depth_);
  if (!field) return false;
  const auto value = words.number<int64_t>(INT64_MIN, INT64_MAX);
  field->labels.push_back({value, words.text()});
  return !words.bad();
}

}  // namespace blip::ctf
