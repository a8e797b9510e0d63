// SPDX-License-Identifier: MIT
// An event as one line of JSON, whether it is live or read from a trace (docs/json.md):
//
//   {"v":1,"kind":"event","time":17,"name":"f","tid":4711,"pid":4711,"context":{"cpu":2},"args":{"n":5},
//    "backtrace":[...],"cut":["/args/s"],"missing":{"/args/p":"bad address"}}
//
// Names from the program and from the user are in objects of their own, so that none can meet a key of the
// event. No object has a key twice.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cli/show/backtrace_text.h"
#include "cli/show/value_writer.h"
#include "ctf/field_groups.h"

namespace blip::cli {

inline constexpr int kJsonVersion = 1;

// "{"v":1,"kind":KIND": how each line of JSON begins.
std::string json_begin(std::string_view kind);

// The keys of one object.
class JsonKeys {
 public:
  // `name`, with a number behind it if there is such a key already.
  std::string take(std::string_view name);

 private:
  // As they are written, for different bytes may come to look the same; and the number for the next such
  // name.
  std::unordered_map<std::string, int> used_;
};

// The JSON keys of the events of one class, one for each name.
class EventKeys {
 public:
  EventKeys();
  std::string take(ctf::FieldGroup group, std::string_view name);

 private:
  std::array<JsonKeys, ctf::kGroupNames.size()> groups_;
};

class EventJson {
 public:
  EventJson() : values_(true) {}

  // What is not known is left out.
  struct Head {
    std::optional<int64_t> time_ns;
    std::string_view name;
    std::string place;
    std::optional<int64_t> pid, tid;
    std::optional<uint64_t> cpu;
  };

  void begin();
  // `write` writes the value; `key` is one of EventKeys.
  template <typename Write>
  void field(ctf::FieldGroup group, std::string_view key, Write write) {
    std::string& out = groups_[static_cast<size_t>(group)];
    const bool is_own = group == ctf::FieldGroup::kOwn;
    values_.begin(out, is_own ? "" : kPointers[static_cast<size_t>(group)]);
    values_.member(key, out.empty(), write);
  }
  ValueWriter& values() { return values_; }

  // The whole line.
  void append_to(std::string& out, const Head& head, const Backtrace* backtrace,
                 const session::FrameNamer* name_of) const;

 private:
  static constexpr std::array<std::string_view, ctf::kGroupNames.size()> kPointers = {
      "", "/context", "/args", "/locals", "/captures", "/fields"};

  ValueWriter values_;
  std::array<std::string, ctf::kGroupNames.size()> groups_;  // what is in the brackets of each
};

}  // namespace blip::cli
