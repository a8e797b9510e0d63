// SPDX-License-Identifier: MIT
// The `metadata` file of a trace: CTF 1.8 TSDL that babeltrace2 and babeltrace 1.5 read.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ctf/schema.h"

namespace blip::ctf {

using Uuid = std::array<uint8_t, 16>;

// A fresh version 4 UUID.
Uuid random_uuid();

// Describes streams as StreamWriter writes them, holding records of `classes` (laid out; ids unique). The
// contexts are declared once for the stream if all classes have the same ones, else per class; the bytes in
// the streams are the same in both cases, so the text may be made anew when classes are added.
std::string metadata_text(const TraceInfo& info, std::span<const EventClass> classes, const Uuid& uuid);

// `text` between double quotes as a TSDL string. Control characters and bytes that are not UTF-8 become
// visible (\x1b), so that a hostile name cannot reach the reader's terminal; very long names are cut and
// marked with "...".
std::string tsdl_string(std::string_view text);

// `name` as a TSDL identifier: what cannot stand in one becomes '_', and '_' goes in front (readers take it
// off).
std::string tsdl_identifier(std::string_view name);

}  // namespace blip::ctf
