// SPDX-License-Identifier: MIT
#include "cli/list_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/escape.h"

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

class Json {
 public:
  explicit Json(std::string& out) : out_(out) {}

  void text(std::string_view key, const std::string& value, bool first = false) {
    fmt::format_to(std::back_inserter(out_), "{}\"{}\":", first ? "" : ",", key);
    append_json_string(out_, value);
  }
  void number(std::string_view key, uint64_t value) {
    fmt::format_to(std::back_inserter(out_), ",\"{}\":{}", key, value);
  }
  template <typename List, typename One>
  void list(std::string_view key, const List& all, One one) {
    fmt::format_to(std::back_inserter(out_), ",\"{}\":[", key);
    for (size_t i = 0; i < all.size(); ++i) {
      out_ += i == 0 ? "{" : ",{";
      one(all[i]);
      out_ += '}';
    }
    out_ += ']';
  }

  void variable(const ListedVariable& v) {
    text("name", v.name, true);
    text("type", v.type);
    text("place", v.place);
    out_ += v.is_parameter ? ",\"parameter\":true" : ",\"parameter\":false";
  }
  void member(const ListedMember& m) {
    text("name", m.name, true);
    text("type", m.type);
    number("offset", m.offset);
    number("size", m.size);
    if (m.bit_size == 0) return;
    number("bit_offset", m.bit_offset);
    number("bit_size", m.bit_size);
  }
  void type(const ListedType& t) {
    text("name", t.name, true);
    number("size", t.size);
    list("members", t.members, [&](const ListedMember& m) { member(m); });
  }

 private:
  std::string& out_;
};

}  // namespace

void append_data(std::string& out, const ListedData& data) {
  if (data.signature.empty()) return;
  fmt::format_to(std::back_inserter(out), "    {}\n", escaped(data.signature));
  append_variables(out, data);
  for (const ListedType& type : data.types) append_type(out, type);
}

void append_data_json(std::string& out, const ListedData& data) {
  if (data.signature.empty()) return;
  Json json(out);
  json.text("signature", data.signature);
  json.list("variables", data.variables, [&](const ListedVariable& v) { json.variable(v); });
  if (!data.types.empty()) json.list("types", data.types, [&](const ListedType& t) { json.type(t); });
}

}  // namespace blip::cli
