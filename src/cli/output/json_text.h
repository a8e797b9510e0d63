// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "cli/output/escape.h"

namespace blip::cli {

// The members of a JSON object, appended to a text. The braces are the caller's.
class JsonText {
 public:
  explicit JsonText(std::string& out) : out_(out) {}

  void key(std::string_view name) {
    const bool is_first = out_.empty() || out_.back() == '{';
    fmt::format_to(std::back_inserter(out_), "{}\"{}\":", is_first ? "" : ",", name);
  }
  void text(std::string_view name, std::string_view value) {
    key(name);
    append_json_string(out_, value);
  }
  void number(std::string_view name, uint64_t value) {
    key(name);
    fmt::format_to(std::back_inserter(out_), "{}", value);
  }
  void truth(std::string_view name, bool value) {
    key(name);
    out_ += value ? "true" : "false";
  }
  // `one` writes an element.
  template <typename List, typename One>
  void list(std::string_view name, const List& all, One one) {
    key(name);
    out_ += '[';
    for (size_t i = 0; i < all.size(); ++i) {
      if (i != 0) out_ += ',';
      one(all[i]);
    }
    out_ += ']';
  }
  // A list of objects; `members` writes what is in one.
  template <typename List, typename Members>
  void objects(std::string_view name, const List& all, Members members) {
    list(name, all, [&](const auto& element) {
      out_ += '{';
      members(element);
      out_ += '}';
    });
  }

 private:
  std::string& out_;
};

}  // namespace blip::cli
