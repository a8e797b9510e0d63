// SPDX-License-Identifier: MIT
// Text from a target may hold anything. What reaches a terminal or a JSON reader went through here: no
// control characters (C0, DEL, C1), no bidirectional controls, no line separators, no invalid UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace blip::cli {

// For terminals: \n \t \r \\ \xNN (bytes) \uNNNN (characters). With `quoted`, a double quote is escaped too.
void append_escaped(std::string& out, std::string_view text, bool quoted = false);
std::string escaped(std::string_view text);

// A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

}  // namespace blip::cli
