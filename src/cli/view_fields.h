// SPDX-License-Identifier: MIT
#pragma once

#include <babeltrace2/babeltrace.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cli/backtrace_text.h"

namespace blip::cli {

// Fields that libbabeltrace2 has read, as `blip trace` shows them (captured_values.h): what could not be read
// and what was cut is marked, lengths of sequences are left out.
class ViewFields {
 public:
  // Takes what the payload of an event says of faults and cuts, for the calls that follow until the next one.
  void begin(const bt_field* payload);

  // That of the scopes appended since; none: there was none.
  const std::optional<Backtrace>& backtrace() const { return backtrace_; }

  // "{ a = 1, b = 2 }". Of the context of a packet only what is not about the packet itself; false: nothing
  // is left of it.
  void append_scope(std::string& out, const bt_field* structure);
  bool append_packet_context(std::string& out, const bt_field* structure);

 private:
  using Paths = std::set<std::string, std::less<>>;

  bool take_backtrace(const bt_field* structure, uint64_t index);
  void append(std::string& out, const bt_field* field, const std::string& path);
  void append_text_list(std::string& out, const bt_field* field, const std::string& path);
  void append_structure(std::string& out, const bt_field* field, const std::string& path);
  void append_array(std::string& out, const bt_field* field);
  static void append_number(std::string& out, const bt_field* field);
  static Paths set_bits(const bt_field* field);

  Paths faults_, cut_;
  std::optional<Backtrace> backtrace_;
  int32_t vpid_ = 0;
};

}  // namespace blip::cli
