// SPDX-License-Identifier: MIT
#include "ctf/text_words.h"

#include "base/hex.h"

namespace blip::ctf {

std::string to_word(std::string_view text) {
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

std::string_view Words::next() {
  const size_t end = std::min(rest_.find(' '), rest_.size());
  const std::string_view found = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  if (found.empty()) bad_ = true;
  return found;
}

std::string Words::text() {
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

Uuid Words::uuid() {
  const std::string_view from = next();
  Uuid uuid{};
  if (from.size() != 2 * uuid.size()) {
    bad_ = true;
    return uuid;
  }
  for (size_t i = 0; i < uuid.size(); ++i) uuid[i] = byte(from[2 * i], from[2 * i + 1]);
  return uuid;
}

uint8_t Words::byte(char high, char low) {
  const size_t a = kHexDigits.find(high), b = kHexDigits.find(low);
  if (a == std::string_view::npos || b == std::string_view::npos) return fail();
  return static_cast<uint8_t>(a << 4 | b);
}

}  // namespace blip::ctf
