// SPDX-License-Identifier: MIT
// Any name in the metadata: one string literal or one identifier, of printable UTF-8, from which nothing
// escapes.
#include <algorithm>

#include "base/check.h"
#include "ctf/metadata.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string literal = blip::ctf::tsdl_string(text);
  CHECK(literal.size() >= 2 && literal.front() == '"' && literal.back() == '"');
  for (size_t i = 1; i + 1 < literal.size(); ++i) {
    CHECK(static_cast<uint8_t>(literal[i]) >= 0x20 && literal[i] != 0x7f && literal[i] != '"');
    if (literal[i] != '\\') continue;
    ++i;
    CHECK(i + 1 < literal.size() && (literal[i] == '\\' || literal[i] == '"'));
  }
  CHECK(blip::ctf::tsdl_string(literal).size() >= literal.size() || size > 60'000);
  const std::string name = blip::ctf::tsdl_identifier(text);
  CHECK(!name.empty() && name.front() == '_');
  CHECK(std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }));
  return 0;
}
