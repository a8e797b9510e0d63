// SPDX-License-Identifier: MIT
#include "cli/show/event_json.h"

#include <fmt/format.h>

#include "cli/output/escape.h"
#include "cli/show/value_text.h"

namespace blip::cli {

namespace {

constexpr size_t kOwn = static_cast<size_t>(ctf::FieldGroup::kOwn);

// The keys of an event that are not fields of one.
constexpr std::string_view kEventKeys[] = {
    "v",    "kind",   "time",     "name",   "place",     "pid",           "tid", "cpu",   "context",
    "args", "locals", "captures", "fields", "backtrace", "backtrace_cut", "cut", "sizes", "missing"};

template <typename Int>
void append_key(std::string& out, std::string_view key, const std::optional<Int>& value) {
  if (!value) return;
  out.append(",\"").append(key).append("\":");
  append_number(out, *value);
}

void append_key(std::string& out, std::string_view key, std::string_view value) {
  out.append(",\"").append(key).append("\":");
  append_json_string(out, value);
}

}  // namespace

std::string json_begin(std::string_view kind) {
  return fmt::format("{{\"v\":{},\"kind\":\"{}\"", kJsonVersion, kind);
}

std::string JsonKeys::take(std::string_view name) {
  const auto written = [](std::string_view key) {
    std::string text;
    append_json_string(text, key);
    return text;
  };
  constexpr int kSecond = 2;
  const auto [first, is_new] = used_.try_emplace(written(name), kSecond);
  if (is_new) return std::string(name);
  int n = first->second;
  std::string key;
  do key = fmt::format("{}_{}", name, n++);
  while (!used_.try_emplace(written(key), kSecond).second);
  used_[written(name)] = n;
  return key;
}

EventKeys::EventKeys() {
  for (const std::string_view key : kEventKeys) (void)groups_[kOwn].take(key);
}

std::string EventKeys::take(ctf::FieldGroup group, std::string_view name) {
  return groups_[static_cast<size_t>(group)].take(name);
}

void EventJson::begin() {
  values_.begin_event();
  for (std::string& group : groups_) group.clear();
}

void EventJson::append_to(std::string& out, const Head& head, const Backtrace* backtrace,
                          const session::FrameNamer* name_of) const {
  static const std::string begin = json_begin("event");
  out += begin;
  append_key(out, "time", head.time_ns);
  append_key(out, "name", head.name);
  if (!head.place.empty()) append_key(out, "place", head.place);
  append_key(out, "tid", head.tid);
  append_key(out, "pid", head.pid);
  append_key(out, "cpu", head.cpu);
  if (!groups_[kOwn].empty()) out.append(",").append(groups_[kOwn]);
  for (size_t i = kOwn + 1; i < groups_.size(); ++i)
    if (!groups_[i].empty())
      out.append(",\"").append(ctf::kGroupNames[i]).append("\":{").append(groups_[i]).append("}");
  if (backtrace) backtrace->append_json(out, name_of);
  values_.append_marks(out);
  out += "}\n";
}

}  // namespace blip::cli
