// SPDX-License-Identifier: MIT
// Strings and identifiers in TSDL. Names come from the target's symbol tables: any bytes of any length.
#include <fmt/format.h>

#include <algorithm>

#include "ctf/metadata.h"

namespace blip::ctf {

namespace {

constexpr size_t kMaxText = 1 << 18;  // of the escaped form; readers take it well

bool is_continuation(char c) { return (uint8_t(c) & 0xC0) == 0x80; }

// Length of the printable UTF-8 character at the start of `text`, 0 if there is none: control characters
// (also C1, which terminals obey), overlong forms, surrogates and stray bytes are not.
size_t printable_utf8(std::string_view text) {
  const auto first = uint8_t(text[0]);
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  const auto second = uint8_t(text[1]);
  if (!std::all_of(text.begin() + 1, text.begin() + long(length), is_continuation)) return 0;
  if (first == 0xC2 && second < 0xA0) return 0;
  if (first == 0xE0 && second < 0xA0) return 0;
  if (first == 0xED && second >= 0xA0) return 0;
  if (first == 0xF0 && second < 0x90) return 0;
  if (first == 0xF4 && second >= 0x90) return 0;
  return length;
}

bool in_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

std::string tsdl_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    if (out.size() > kMaxText) {
      out += "...";
      break;
    }
    const size_t length = printable_utf8(text);
    if (length == 0) {
      out += fmt::format("\\\\x{:02x}", uint8_t(text[0]));
    } else {
      if (text[0] == '"' || text[0] == '\\') out += '\\';
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out + '"';
}

std::string tsdl_identifier(std::string_view name) {
  std::string out = "_";
  for (const char c : name) out += in_identifier(c) ? c : '_';
  if (out == "_Bool" || out == "_Complex" || out == "_Imaginary") out += '_';  // words of TSDL, as of C
  return out;
}

}  // namespace blip::ctf
