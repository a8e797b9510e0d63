// SPDX-License-Identifier: MIT
// Itanium C++ ABI 5.1: _Z <name>, _ZN [rVK] <identifier>... E, with L before what is local to its file.
#include "elf/mangled_name.h"

namespace blip::elf {

namespace {

constexpr size_t kRustHash = 17;  // "h" and 16 digits end each name of Rust's older scheme

class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool take(std::string_view what) {
    if (!rest_.starts_with(what)) return false;
    rest_.remove_prefix(what.size());
    return true;
  }
  // The identifier that stands here, with its length before it.
  std::optional<std::string_view> identifier() {
    size_t at = 0;
    size_t length = 0;
    for (; at < rest_.size() && rest_[at] >= '0' && rest_[at] <= '9' && length <= rest_.size(); ++at)
      length = length * 10 + static_cast<size_t>(rest_[at] - '0');
    if (length == 0 || length > rest_.size() - at) return std::nullopt;
    const std::string_view text = rest_.substr(at, length);
    rest_.remove_prefix(at + length);
    return text;
  }

 private:
  std::string_view rest_;
};

// Reads X::X, which is X, or X::~X.
std::optional<std::string_view> constructor_or_destructor(Cursor& at, std::string_view of_class) {
  for (const std::string_view kind : {"C1", "C2", "C3"})
    if (at.take(kind)) return at.take("E") ? std::optional(of_class) : std::nullopt;
  for (const std::string_view kind : {"D0", "D1", "D2"})
    if (at.take(kind)) return at.take("E") ? std::optional<std::string_view>("~") : std::nullopt;
  return std::nullopt;
}

std::optional<std::string_view> nested(Cursor& at) {
  while (at.take("r") || at.take("V") || at.take("K")) {
  }
  at.take("St");
  for (std::string_view last;;) {
    at.take("L");
    const auto next = at.identifier();
    if (!next) return last.empty() ? std::nullopt : constructor_or_destructor(at, last);
    last = *next;
    if (!at.take("E")) continue;
    const bool is_hash = last.size() == kRustHash && last[0] == 'h';
    return is_hash ? std::nullopt : std::optional(last);
  }
}

}  // namespace

std::optional<std::string_view> last_identifier(std::string_view mangled) {
  Cursor at(mangled);
  if (!at.take("_Z")) return std::nullopt;
  if (at.take("N")) return nested(at);
  at.take("L");
  const auto name = at.identifier();
  return name && !at.take("B") ? name : std::nullopt;
}

}  // namespace blip::elf
