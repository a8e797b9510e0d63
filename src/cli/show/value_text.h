// SPDX-License-Identifier: MIT
// Single values as people read them, or as JSON.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "ctf/schema.h"

namespace blip::cli {

// Shown in place of a value that could not be read.
inline constexpr std::string_view kBadAddress = "<bad address>";

template <typename Int>
void append_number(std::string& out, Int value, int base = 10) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof(digits), value, base).ptr);
}

template <typename Int>
Int load(const uint8_t* from) {
  Int value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

// A field of a plain type, from its bytes.
void append_plain(std::string& out, ctf::FieldType type, const uint8_t* from, bool json);

// In base 16 for people only: JSON has no such numbers.
void append_integer(std::string& out, uint64_t bits, bool is_signed, bool is_hex, bool json);
// The shortest text that gives the same number. What is no number is a string in JSON.
void append_float(std::string& out, double value, bool json);
void append_float(std::string& out, float value, bool json);
// true; 2 if it is neither 0 nor 1.
void append_truth(std::string& out, uint64_t value);
// 'a' (97); in JSON "a", of other characters than ASCII's that of Latin 1.
void append_character(std::string& out, uint8_t byte, bool is_signed, bool json);
// RED (1); in JSON "RED".
void append_labelled(std::string& out, std::string_view label, uint64_t bits, bool is_signed, bool json);
// "text", and ... behind it if there was more, which JSON cannot say.
void append_quoted(std::string& out, std::string_view text, bool cut, bool json);

// " <place>" behind an address; nothing if it has no name.
void append_place(std::string_view place, std::string& out);

}  // namespace blip::cli
