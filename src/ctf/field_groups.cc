// SPDX-License-Identifier: MIT
#include "ctf/field_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace blip::ctf {

namespace {

constexpr std::string_view kScheme = "blip:event?";

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-';
}

std::string percent_encoded(std::string_view name) {
  std::string out;
  for (const char c : name) out += is_unreserved(c) ? std::string(1, c) : fmt::format("%{:02X}", uint8_t(c));
  return out;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    uint8_t byte = 0;
    const bool is_coded =
        text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr == text.data() + i + 3;
    out += is_coded ? static_cast<char>(byte) : text[i];
    if (is_coded) i += 2;
  }
  return out;
}

std::string_view take_until(std::string_view& rest, char end) {
  const size_t at = std::min(rest.find(end), rest.size());
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return taken;
}

}  // namespace

std::string payload_uri(std::span<const Field> payload) {
  std::string uri(kScheme);
  std::optional<FieldGroup> current;
  for (const Field& field : payload) {
    const FieldGroup group = group_of(field);
    if (group == current) {
      uri += ',';
    } else {
      if (current) uri += '&';
      uri.append(kGroupNames[static_cast<size_t>(group)]).append("=");
    }
    current = group;
    uri += percent_encoded(field.name);
  }
  return uri;
}

std::optional<std::vector<GroupedName>> parse_payload_uri(std::string_view uri) {
  if (!uri.starts_with(kScheme)) return std::nullopt;
  uri.remove_prefix(kScheme.size());
  std::vector<GroupedName> names;
  while (!uri.empty()) {
    std::string_view part = take_until(uri, '&');
    const std::string_view group = take_until(part, '=');
    const auto known = std::find(kGroupNames.begin(), kGroupNames.end(), group);
    if (known == kGroupNames.end()) return std::nullopt;
    for (bool is_last = false; !is_last;) {
      is_last = part.find(',') == std::string_view::npos;
      names.push_back(
          {static_cast<FieldGroup>(known - kGroupNames.begin()), percent_decoded(take_until(part, ','))});
    }
  }
  return names;
}

}  // namespace blip::ctf
