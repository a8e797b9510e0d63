// SPDX-License-Identifier: MIT
// One fact per line, words separated by blanks; what is not plain in a word is written %XX:
//
//   trace UUID VPID MONOTONIC TSC NS REALTIME-OFFSET SEVERAL
//   text HOSTNAME PROCNAME COMMAND-LINE CREATION-TIME DIR PREFIX
//
// Then the event classes, as ctf/schema_text.h has them.
#include "session/drain/region_schema.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/hex.h"
#include "ctf/schema_text.h"

namespace blip::session {

namespace {

using ctf::to_word;
using ctf::Words;

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

bool parse_line(std::string_view line, RegionSchema& schema, ctf::SchemaReader& classes) {
  Words words(line);
  const std::string_view kind = words.next();
  if (kind == "trace") {
    parse_trace(words, schema);
  } else if (kind == "text") {
    parse_texts(words, schema);
  } else {
    return classes.take(kind, words);
  }
  return !words.bad();
}

}  // namespace

std::string to_text(const RegionSchema& s) {
  std::string text = fmt::format("trace {} {} {:d} {} {} {} {:d}\n", to_hex(s.uuid), s.vpid, s.monotonic,
                                 s.start.tsc, s.start.ns, s.info.realtime_offset, s.info.streams_of_several);
  text += fmt::format("text {} {} {} {} {} {}\n", to_word(s.info.hostname), to_word(s.info.procname),
                      to_word(s.info.command_line), to_word(s.info.creation_time), to_word(s.dir),
                      to_word(s.prefix));
  return text + ctf::schema_text(s.classes);
}

Result<RegionSchema> parse_region_schema(std::string_view text) {
  const Error broken(ErrorKind::kInvalid, "the description of what a killed blip recorded is damaged");
  RegionSchema schema;
  ctf::SchemaReader reader;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (!parse_line(text.substr(0, end), schema, reader)) return broken;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  auto classes = reader.finish();
  if (!classes) return broken;
  schema.classes = *std::move(classes);
  return schema;
}

}  // namespace blip::session
