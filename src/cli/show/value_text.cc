// SPDX-License-Identifier: MIT
#include "cli/show/value_text.h"

#include <cmath>

#include "cli/output/escape.h"

namespace blip::cli {

namespace {

template <typename Float>
void append_any_float(std::string& out, Float value, bool json) {
  if (!std::isfinite(value)) {
    const char* name = std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    if (json) out += '"';
    out += name;
    if (json) out += '"';
    return;
  }
  char digits[64];
  out.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

}  // namespace

void append_plain(std::string& out, ctf::FieldType type, const uint8_t* from, bool json) {
  switch (type) {
    case ctf::FieldType::kInt32:
      append_number(out, load<int32_t>(from));
      break;
    case ctf::FieldType::kUint32:
    case ctf::FieldType::kStackId:
      append_number(out, load<uint32_t>(from));
      break;
    case ctf::FieldType::kUint16:
      append_number(out, load<uint16_t>(from));
      break;
    case ctf::FieldType::kUint8:
      append_number(out, load<uint8_t>(from));
      break;
    case ctf::FieldType::kUint64:
      append_number(out, load<uint64_t>(from));
      break;
    case ctf::FieldType::kHex64:
    case ctf::FieldType::kStackInfo:
      append_integer(out, load<uint64_t>(from), false, true, json);
      break;
    case ctf::FieldType::kText16:
    case ctf::FieldType::kText256: {
      const char* text = reinterpret_cast<const char*>(from);
      append_quoted(out, {text, strnlen(text, ctf::field_size(type))}, false, json);
      break;
    }
    default:
      break;
  }
}

void append_integer(std::string& out, uint64_t bits, bool is_signed, bool is_hex, bool json) {
  if (is_hex && !json) {
    out += "0x";
    append_number(out, bits, 16);
  } else if (is_signed && !is_hex) {
    append_number(out, static_cast<int64_t>(bits));
  } else {
    append_number(out, bits);
  }
}

void append_float(std::string& out, double value, bool json) { append_any_float(out, value, json); }
void append_float(std::string& out, float value, bool json) { append_any_float(out, value, json); }

void append_truth(std::string& out, uint64_t value) {
  if (value > 1) {
    append_number(out, value);
  } else {
    out += value == 1 ? "true" : "false";
  }
}

void append_character(std::string& out, uint8_t byte, bool is_signed, bool json) {
  const char c = static_cast<char>(byte);
  if (json) {
    const char latin1[] = {static_cast<char>(0xc0 | byte >> 6), static_cast<char>(0x80 | (byte & 0x3f))};
    append_json_string(out, byte < 0x80 ? std::string_view(&c, 1) : std::string_view(latin1, sizeof latin1));
    return;
  }
  out += '\'';
  append_escaped(out, {&c, 1});
  out += "' (";
  append_number(out, is_signed ? static_cast<int8_t>(byte) : int{byte});
  out += ')';
}

void append_labelled(std::string& out, std::string_view label, uint64_t bits, bool is_signed, bool json) {
  if (json) {
    append_json_string(out, label);
    return;
  }
  append_escaped(out, label);
  out += " (";
  append_integer(out, bits, is_signed, false, false);
  out += ')';
}

void append_quoted(std::string& out, std::string_view text, bool cut, bool json) {
  if (json) {
    append_json_string(out, text);
    return;
  }
  out += '"';
  append_escaped(out, text, true);
  out += cut ? "\"..." : "\"";
}

void append_place(std::string_view place, std::string& out) {
  if (place.empty()) return;
  out += " <";
  append_escaped(out, place);
  out += '>';
}

}  // namespace blip::cli
