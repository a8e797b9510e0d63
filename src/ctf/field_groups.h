// SPDX-License-Identifier: MIT
// Which field of an event is what. CTF has no place for it but the URI of an event's model, which readers
// that know nothing of blip pass over:
//
//   model.emf.uri = "blip:event?own=ret,latency_ns,depth,tail&args=n&captures=a%20%2B%20b";
//
// It has all fields of the payload in their order, by the names that the user knows, which a CTF identifier
// may not hold.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ctf/schema.h"

namespace blip::ctf {

// By FieldGroup: in JSON and in the URI.
inline constexpr std::array<std::string_view, 6> kGroupNames = {"own",    "context",  "args",
                                                                "locals", "captures", "fields"};

std::string payload_uri(std::span<const Field> payload);

struct GroupedName {
  FieldGroup group = FieldGroup::kDetail;
  std::string name;

  bool operator==(const GroupedName&) const = default;
};
// Nothing: it is no such URI. A trace may say anything: names may come twice.
std::optional<std::vector<GroupedName>> parse_payload_uri(std::string_view uri);

}  // namespace blip::ctf
