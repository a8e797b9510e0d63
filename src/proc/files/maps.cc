// SPDX-License-Identifier: MIT
#include "proc/files/maps.h"

#include <fmt/core.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>

#include "proc/files/status.h"

// A line is "begin-end perms offset major:minor inode" and, after blanks, the name to the end of the line.
// The kernel writes a newline in a file's name as \012 and a backslash as it is; " (deleted)" follows the
// name of an unlinked file.

namespace blip::proc {

namespace {

constexpr std::string_view kDeleted = " (deleted)";
constexpr std::string_view kEscapedNewline = "\\012";

// Reads fields off the front of one line; remembers whether all were well formed.
class FieldReader {
 public:
  explicit FieldReader(std::string_view line) : rest_(line) {}

  uint64_t number(int base) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
    if (error != std::errc())
      good_ = false;
    else
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }
  void expect(char c) {
    if (!rest_.starts_with(c))
      good_ = false;
    else
      rest_.remove_prefix(1);
  }
  char character() {
    if (rest_.empty()) {
      good_ = false;
      return '\0';
    }
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  std::string_view rest() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    return rest_;
  }
  bool good() const { return good_; }

 private:
  std::string_view rest_;
  bool good_ = true;
};

std::string unescape(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const bool newline = name.starts_with(kEscapedNewline);
    text += newline ? '\n' : name.front();
    name.remove_prefix(newline ? kEscapedNewline.size() : 1);
  }
  return text;
}

Result<Map> parse_line(std::string_view line) {
  FieldReader fields(line);
  Map map;
  map.range.begin = TargetAddr(fields.number(16));
  fields.expect('-');
  map.range.end = TargetAddr(fields.number(16));
  fields.expect(' ');
  map.read = fields.character() == 'r';
  map.write = fields.character() == 'w';
  map.exec = fields.character() == 'x';
  map.shared = fields.character() == 's';
  fields.expect(' ');
  map.offset = fields.number(16);
  fields.expect(' ');
  const uint64_t device_major = fields.number(16);
  fields.expect(':');
  const uint64_t device_minor = fields.number(16);
  fields.expect(' ');
  map.inode = fields.number(10);
  if (!fields.good() || map.range.empty())
    return Error(ErrorKind::kInvalid, fmt::format("malformed line in /proc maps: '{}'", line));
  map.dev = makedev(static_cast<unsigned>(device_major), static_cast<unsigned>(device_minor));
  std::string_view name = fields.rest();
  map.deleted = map.inode != 0 && name.ends_with(kDeleted);
  if (map.deleted) name.remove_suffix(kDeleted.size());
  map.path = unescape(name);
  return map;
}

}  // namespace

Result<std::vector<Map>> parse_maps(std::string_view text) {
  std::vector<Map> maps;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    TRY(Map map, parse_line(text.substr(0, end)));
    maps.push_back(std::move(map));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return maps;
}

Result<std::vector<Map>> read_maps(pid_t pid) {
  TRY(const pid_t tid, find_live_thread(pid));
  TRY(const std::string text, read_proc_file(fmt::format("/proc/{}/task/{}/maps", pid, tid)));
  TRY(std::vector<Map> maps, parse_maps(text));
  if (maps.empty()) return Error(ErrorKind::kGone, fmt::format("process {} has ended", pid));
  return maps;
}

const Map* find_map(std::span<const Map> maps, TargetAddr addr) {
  const auto after = std::upper_bound(maps.begin(), maps.end(), addr,
                                      [](TargetAddr a, const Map& map) { return a < map.range.end; });
  return after != maps.end() && after->range.contains(addr) ? &*after : nullptr;
}

}  // namespace blip::proc
