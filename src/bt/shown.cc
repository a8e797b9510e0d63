// SPDX-License-Identifier: MIT
#include "bt/shown.h"

#include <fmt/format.h>

namespace blip::bt {

namespace {

struct AsText {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(bool b) const { return b ? "true" : "false"; }
  std::string operator()(int64_t n) const { return fmt::format("{}", n); }
  std::string operator()(uint64_t n) const { return fmt::format("{}", n); }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(const Shown::Symbol& s) const { return s.name; }
  std::string operator()(const Shown::Bytes& b) const { return bytes_as_text(b.bytes); }
  std::string operator()(const Shown::Tuple& t) const { return '(' + joined(t.values, ", ") + ')'; }
  std::string operator()(const Shown::Array& a) const { return '[' + joined(a.values, ",") + ']'; }
  std::string operator()(const Shown::Record& r) const {
    if (r.fields.empty()) return "{}";
    std::string text;
    for (const auto& [name, value] : r.fields)
      text += (text.empty() ? "{ ." : ", .") + name + " = " + to_text(value);
    return text + " }";
  }

 private:
  static std::string joined(const Shown::List& values, const char* between) {
    std::string text;
    for (size_t i = 0; i < values.size(); ++i) text += (i ? between : "") + to_text(values[i]);
    return text;
  }
};

}  // namespace

std::string to_text(const Shown& value) { return std::visit(AsText(), value.value); }

std::string bytes_as_text(std::string_view bytes, bool keeps_ascii, bool has_escapes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (keeps_ascii && byte >= ' ' && byte <= '~')
      text += bytes[i];
    else if (has_escapes)
      text += fmt::format("\\x{:02x}", byte);
    else
      text += fmt::format("{:02x}{}", byte, i + 1 == bytes.size() ? "" : " ");
  }
  return text;
}

}  // namespace blip::bt
