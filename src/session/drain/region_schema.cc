// SPDX-License-Identifier: MIT
// One fact per line, words separated by blanks; what is not plain in a word is written %XX:
//
//   trace UUID VPID MONOTONIC TSC NS REALTIME-OFFSET SEVERAL
//   text HOSTNAME PROCNAME COMMAND-LINE CREATION-TIME DIR PREFIX
//   class ID LEADS-WITH-PID MANY-PLACES OF-BLIP NAME
//   field TYPE IS-CONTEXT IS-IMPLICIT NAME           of the class before it
//   duration                                         the field before it is one
//   hit                                              the class before it has a hit word
//   files                                            events of the class before it tell of mapped files
//   output KIND SIZE COUNT MAY-FAULT IS-ADDED        of the class before it
//   typed DEPTH TYPE IS-CONTEXT IS-IMPLICIT OUTPUT BEGIN SIZE SIGNED HEX BIT-OFFSET BIT-SIZE COUNT NAME NOTE
//                                                    a captured field of the class or, if DEPTH is not 0, of
//                                                    the last one of a lower depth
//   label VALUE NAME                                 of the captured field before it
#include "session/drain/region_schema.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "abi/layout.h"
#include "base/hex.h"
#include "ctf/captured.h"

namespace blip::session {

namespace {

constexpr ctf::FieldType kLastType = ctf::FieldType::kCollectedText;
constexpr ctf::FieldType kFirstTyped = ctf::FieldType::kInt;

std::string word(std::string_view text) {
  std::string out = "=";  // so that an empty word is one
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x7f && c != '%') {
      out += c;
    } else {
      out += {'%', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
    }
  }
  return out;
}

// The words of one line, taken one after the other. After the first that is not as it should be, bad().
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  bool bad() const { return bad_; }

  std::string_view next() {
    const size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (found.empty()) bad_ = true;
    return found;
  }

  template <typename T>
  T number(T least, T most) {
    const std::string_view text = next();
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
      bad_ = true;
    return bad_ ? least : value;
  }
  bool flag() { return number(0, 1) != 0; }
  ctf::FieldType plain_type() {
    const auto type = static_cast<ctf::FieldType>(number(0, static_cast<int>(kLastType)));
    if (!ctf::is_plain(type)) bad_ = true;
    return bad_ ? ctf::FieldType{} : type;
  }

  std::string text() {
    std::string_view from = next();
    std::string to;
    if (bad_ || from[0] != '=') {
      bad_ = true;
      return to;
    }
    for (from.remove_prefix(1); !from.empty(); from.remove_prefix(1)) {
      if (from[0] != '%') {
        to += from[0];
        continue;
      }
      to += static_cast<char>(from.size() < 3 ? fail() : byte(from[1], from[2]));
      from.remove_prefix(std::min<size_t>(2, from.size() - 1));
    }
    return to;
  }

  ctf::Uuid uuid() {
    const std::string_view from = next();
    ctf::Uuid uuid{};
    if (from.size() != 2 * uuid.size()) {
      bad_ = true;
      return uuid;
    }
    for (size_t i = 0; i < uuid.size(); ++i) uuid[i] = byte(from[2 * i], from[2 * i + 1]);
    return uuid;
  }

 private:
  uint8_t fail() {
    bad_ = true;
    return 0;
  }
  uint8_t byte(char high, char low) {
    const size_t a = kHexDigits.find(high), b = kHexDigits.find(low);
    if (a == std::string_view::npos || b == std::string_view::npos) return fail();
    return static_cast<uint8_t>(a << 4 | b);
  }

  std::string_view rest_;
  bool bad_ = false;
};

void parse_trace(Words& words, RegionSchema& schema) {
  schema.uuid = words.uuid();
  schema.vpid = words.number<int32_t>(0, INT32_MAX);
  schema.monotonic = words.flag();
  schema.start.tsc = words.number<uint64_t>(0, UINT64_MAX);
  schema.start.ns = words.number<uint64_t>(0, UINT64_MAX);
  schema.info.realtime_offset = words.number<int64_t>(INT64_MIN, INT64_MAX);
  schema.info.streams_of_several = words.flag();
  schema.info.vpid = schema.vpid;
}

void parse_texts(Words& words, RegionSchema& schema) {
  schema.info.hostname = words.text();
  schema.info.procname = words.text();
  schema.info.command_line = words.text();
  schema.info.creation_time = words.text();
  schema.dir = words.text();
  schema.prefix = words.text();
}

// Ids follow each other, so that one can be used as an index.
void parse_class(Words& words, RegionSchema& schema) {
  ctf::EventClass c;
  const auto id = static_cast<uint16_t>(abi::kFirstClass + schema.classes.size());
  c.id = words.number<uint16_t>(id, id);
  c.leads_with_pid = words.flag();
  c.many_places = words.flag();
  c.of_blip = words.flag();
  c.name = words.text();
  schema.classes.push_back(std::move(c));
}

void parse_field(Words& words, ctf::EventClass& c) {
  ctf::Field field{};
  field.type = words.plain_type();
  field.is_context = words.flag();
  field.is_implicit = words.flag();
  field.name = words.text();
  c.fields.push_back(std::move(field));
}

bool mark_duration(RegionSchema& schema) {
  if (schema.classes.empty() || schema.classes.back().fields.empty()) return false;
  ctf::Field& field = schema.classes.back().fields.back();
  field.is_duration = field.type == ctf::FieldType::kUint64;
  return field.is_duration;
}

void parse_output(Words& words, ctf::EventClass& c) {
  ctf::RecordOutput output;
  output.kind = static_cast<ctf::RecordOutput::Kind>(
      words.number(0, static_cast<int>(ctf::RecordOutput::Kind::kCollected)));
  output.size = words.number<uint32_t>(0, UINT32_MAX);
  output.count = words.number<uint32_t>(0, UINT32_MAX);
  output.may_fault = words.flag();
  output.is_added = words.flag();
  c.outputs.push_back(output);
}

// The last captured field at `depth`; none: there is no such.
ctf::Field* last_typed(ctf::EventClass& c, uint32_t depth) {
  std::vector<ctf::Field>* list = &c.fields;
  for (; depth > 0 && !list->empty(); --depth) list = &list->back().members;
  return list->empty() ? nullptr : &list->back();
}

// Returns the depth of the field; none: it is no member of anything.
std::optional<uint32_t> parse_typed(Words& words, ctf::EventClass& c) {
  const auto depth = words.number<uint32_t>(0, ctf::kMaxFieldDepth);
  ctf::Field* outer = depth == 0 ? nullptr : last_typed(c, depth - 1);
  if (depth != 0 && !outer) return std::nullopt;
  ctf::Field field{};
  field.type =
      static_cast<ctf::FieldType>(words.number(static_cast<int>(kFirstTyped), static_cast<int>(kLastType)));
  if (ctf::is_plain(field.type)) return std::nullopt;
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
  return depth;
}

// What tells of captured data, after the class it belongs to.
class CapturedLines {
 public:
  bool parse(std::string_view kind, Words& words, ctf::EventClass& c) {
    if (kind == "hit") {
      c.has_hit_word = true;
    } else if (kind == "files") {
      c.tells_files = true;
    } else if (kind == "output") {
      parse_output(words, c);
    } else if (kind == "typed") {
      const auto depth = parse_typed(words, c);
      if (!depth) return false;
      depth_ = *depth;
    } else if (kind == "label") {
      ctf::Field* field = last_typed(c, depth_);
      if (!field) return false;
      const auto value = words.number<int64_t>(INT64_MIN, INT64_MAX);
      field->labels.push_back({value, words.text()});
    } else {
      return false;
    }
    return true;
  }

 private:
  uint32_t depth_ = 0;  // of the last field
};

bool parse_line(std::string_view line, RegionSchema& schema, CapturedLines& captured) {
  Words words(line);
  const std::string_view kind = words.next();
  if (kind == "trace") {
    parse_trace(words, schema);
  } else if (kind == "text") {
    parse_texts(words, schema);
  } else if (kind == "class" && schema.classes.size() < abi::kMaxClasses - abi::kFirstClass) {
    parse_class(words, schema);
  } else if (kind == "field" && !schema.classes.empty()) {
    parse_field(words, schema.classes.back());
  } else if (kind == "duration") {
    return mark_duration(schema);
  } else if (schema.classes.empty() || !captured.parse(kind, words, schema.classes.back())) {
    return false;
  }
  return !words.bad();
}

bool usable(ctf::EventClass& c) {
  if (c.leads_with_pid &&
      (c.fields.empty() || c.fields[0].type != ctf::FieldType::kInt32 || !c.fields[0].is_context))
    return false;
  if (!c.has_hit_word && std::any_of(c.fields.begin(), c.fields.end(),
                                     [](const ctf::Field& f) { return !ctf::is_plain(f.type); }))
    return false;
  ctf::lay_out(c);
  return c.has_hit_word ? ctf::check_outputs(c).has_value() : c.record_size <= abi::kMaxRecordSize;
}

void add_typed(std::string& text, const ctf::Field& f, uint32_t depth) {
  text += fmt::format("typed {} {} {:d} {:d} {} {} {} {:d} {:d} {} {} {} {} {}\n", depth,
                      static_cast<int>(f.type), f.is_context, f.is_implicit, f.output, f.begin, f.size,
                      f.is_signed, f.is_hex, f.bit_offset, f.bit_size, f.count, word(f.name), word(f.note));
  for (const ctf::Label& label : f.labels)
    text += fmt::format("label {} {}\n", label.value, word(label.name));
  for (const ctf::Field& member : f.members) add_typed(text, member, depth + 1);
}

}  // namespace

std::string to_text(const RegionSchema& s) {
  std::string text = fmt::format("trace {} {} {:d} {} {} {} {:d}\n", to_hex(s.uuid), s.vpid, s.monotonic,
                                 s.start.tsc, s.start.ns, s.info.realtime_offset, s.info.streams_of_several);
  text += fmt::format("text {} {} {} {} {} {}\n", word(s.info.hostname), word(s.info.procname),
                      word(s.info.command_line), word(s.info.creation_time), word(s.dir), word(s.prefix));
  for (const ctf::EventClass& c : s.classes) {
    text += fmt::format("class {} {:d} {:d} {:d} {}\n", c.id, c.leads_with_pid, c.many_places, c.of_blip,
                        word(c.name));
    if (c.has_hit_word) text += "hit\n";
    if (c.tells_files) text += "files\n";
    for (const ctf::RecordOutput& o : c.outputs)
      text += fmt::format("output {} {} {} {:d} {:d}\n", static_cast<int>(o.kind), o.size, o.count,
                          o.may_fault, o.is_added);
    for (const ctf::Field& f : c.fields) {
      if (!ctf::is_plain(f.type)) {
        if (!c.of_blip) add_typed(text, f, 0);  // no ring holds one of those
        continue;
      }
      text += fmt::format("field {} {:d} {:d} {}\n", static_cast<int>(f.type), f.is_context, f.is_implicit,
                          word(f.name));
      if (f.is_duration) text += "duration\n";
    }
  }
  return text;
}

Result<RegionSchema> parse_region_schema(std::string_view text) {
  const Error broken(ErrorKind::kInvalid, "the description of what a killed blip recorded is damaged");
  RegionSchema schema;
  CapturedLines captured;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (!parse_line(text.substr(0, end), schema, captured)) return broken;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  for (ctf::EventClass& c : schema.classes)
    if (!usable(c)) return broken;
  return schema;
}

}  // namespace blip::session
