// SPDX-License-Identifier: MIT
#include "cli/output/escape.h"

#include <cstdint>

namespace blip::cli {
namespace {

struct Character {
  uint32_t code = 0;
  size_t size = 0;  // bytes; 0: the first byte starts no valid sequence
};

bool is_continuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

// Decodes one character as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
Character decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t size = lead >= 0xf0 && lead <= 0xf4   ? 4
                      : lead >= 0xe0 && lead <= 0xef ? 3
                      : lead >= 0xc2 && lead <= 0xdf ? 2
                                                     : 0;
  if (size == 0 || text.size() < size) return {};
  uint32_t code = lead & (0x7fU >> size);
  for (size_t i = 1; i < size; ++i) {
    if (!is_continuation(byte(i))) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeastOfSize[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeastOfSize[size] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, size};
}

// Characters that steer a terminal or reorder what is seen.
bool is_dangerous(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) ||  // C0, DEL, C1
         code == 0x061c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) ||  // line and paragraph separator, bidi embeddings and overrides
         (code >= 0x2066 && code <= 0x2069) ||  // bidi isolates
         code == 0xfeff;
}

bool is_plain_ascii(unsigned char c) { return c >= 0x20 && c < 0x7f && c != '\\' && c != '"'; }

void append_hex(std::string& out, uint32_t value, unsigned digits) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (unsigned i = digits; i-- > 0;) out += kDigits[value >> (4 * i) & 0xf];
}

// Most text is plain: it is copied in runs.
void append_plain_run(std::string& out, std::string_view& text) {
  size_t length = 0;
  while (length < text.size() && is_plain_ascii(static_cast<unsigned char>(text[length]))) ++length;
  out += text.substr(0, length);
  text.remove_prefix(length);
}

// The letter of \n and its kind; 0 if there is none.
char short_escape(uint32_t code) {
  switch (code) {
    case '\n':
      return 'n';
    case '\t':
      return 't';
    case '\r':
      return 'r';
    case '\\':
      return '\\';
    default:
      return 0;
  }
}

void append_terminal_escape(std::string& out, uint32_t code) {
  out += '\\';
  if (const char letter = short_escape(code)) {
    out += letter;
  } else if (code < 0x80) {
    out += 'x';
    append_hex(out, code, 2);
  } else {
    out += 'u';
    append_hex(out, code, 4);
  }
}

}  // namespace

void append_escaped(std::string& out, std::string_view text, bool quoted) {
  for (append_plain_run(out, text); !text.empty(); append_plain_run(out, text)) {
    const Character c = decode(text);
    if (c.size == 0) {
      out += "\\x";
      append_hex(out, static_cast<unsigned char>(text[0]), 2);
      text.remove_prefix(1);
      continue;
    }
    if (is_dangerous(c.code) || c.code == '\\') {
      append_terminal_escape(out, c.code);
    } else {
      if (quoted && c.code == '"') out += '\\';
      out += text.substr(0, c.size);
    }
    text.remove_prefix(c.size);
  }
}

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(out, text);
  return out;
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (append_plain_run(out, text); !text.empty(); append_plain_run(out, text)) {
    const Character c = decode(text);
    if (c.size == 0) {
      out += "\\ufffd";
    } else if (const char letter = short_escape(c.code); letter || c.code == '"') {
      out += '\\';
      out += letter ? letter : '"';
    } else if (is_dangerous(c.code)) {
      out += "\\u";
      append_hex(out, c.code, 4);
    } else {
      out += text.substr(0, c.size);
    }
    text.remove_prefix(c.size == 0 ? 1 : c.size);
  }
  out += '"';
}

}  // namespace blip::cli
