// SPDX-License-Identifier: MIT
#include "cli/show/list_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/output/escape.h"
#include "cli/output/json_text.h"

namespace blip::cli {
namespace {

using session::ListedData;
using session::ListedMember;
using session::ListedType;
using session::ListedVariable;

constexpr size_t kWidestColumn = 40;

template <typename Part>
size_t width_of(const ListedData& data, Part part) {
  size_t width = 0;
  for (const ListedVariable& v : data.variables) width = std::max(width, escaped(v.*part).size());
  return std::min(width, kWidestColumn);
}

void append_variables(std::string& out, const ListedData& data) {
  const size_t names = width_of(data, &ListedVariable::name), types = width_of(data, &ListedVariable::type);
  for (const ListedVariable& v : data.variables)
    fmt::format_to(std::back_inserter(out), "      {:<{}}  {:<{}}  {}\n", escaped(v.name), names,
                   escaped(v.type), types, v.place);
}

// As ptype /o: where it begins, a bit-field with its first bit, and how large it is.
void append_member(std::string& out, const ListedMember& m) {
  const std::string begin =
      m.bit_size ? fmt::format("{}:{}", m.offset, m.bit_offset) : fmt::format("{}", m.offset);
  fmt::format_to(std::back_inserter(out), "      {:<6}  {:>4}  {}", begin, m.bit_size ? m.bit_size : m.size,
                 escaped(m.type));
  if (!m.name.empty()) fmt::format_to(std::back_inserter(out), " {}", escaped(m.name));
  if (m.bit_size) fmt::format_to(std::back_inserter(out), " : {}", m.bit_size);
  out += '\n';
}

void append_type(std::string& out, const ListedType& type) {
  fmt::format_to(std::back_inserter(out), "    {}, {} bytes\n", escaped(type.name), type.size);
  for (const ListedMember& member : type.members) append_member(out, member);
}

void append_variable(JsonText& json, const ListedVariable& v) {
  json.text("name", v.name);
  json.text("type", v.type);
  json.text("place", v.place);
  json.truth("parameter", v.is_parameter);
}

void append_member(JsonText& json, const ListedMember& m) {
  json.text("name", m.name);
  json.text("type", m.type);
  json.number("offset", m.offset);
  json.number("size", m.size);
  if (m.bit_size == 0) return;
  json.number("bit_offset", m.bit_offset);
  json.number("bit_size", m.bit_size);
}

void append_type(JsonText& json, const ListedType& t) {
  json.text("name", t.name);
  json.number("size", t.size);
  json.objects("members", t.members, [&](const ListedMember& m) { append_member(json, m); });
}

}  // namespace

void append_data(std::string& out, const ListedData& data) {
  if (data.signature.empty()) return;
  fmt::format_to(std::back_inserter(out), "    {}\n", escaped(data.signature));
  append_variables(out, data);
  for (const ListedType& type : data.types) append_type(out, type);
}

void append_data_json(std::string& out, const ListedData& data) {
  if (data.signature.empty()) return;
  JsonText json(out);
  json.text("signature", data.signature);
  json.objects("variables", data.variables, [&](const ListedVariable& v) { append_variable(json, v); });
  if (!data.types.empty())
    json.objects("types", data.types, [&](const ListedType& t) { append_type(json, t); });
}

}  // namespace blip::cli
