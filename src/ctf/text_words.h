// SPDX-License-Identifier: MIT
// Lines of words separated by blanks, for text that is kept where others may change it.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "ctf/metadata.h"

namespace blip::ctf {

// Any text as one word: '=', then what is not plain as %XX.
std::string to_word(std::string_view text);

// The words of one line, taken one after the other. After the first that is not as it should be, bad().
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  bool bad() const { return bad_; }

  std::string_view next();
  template <typename T>
  T number(T least, T most) {
    const std::string_view text = next();
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
      bad_ = true;
    return bad_ ? least : value;
  }
  bool flag() { return number(0, 1) != 0; }

  std::string text();  // that to_word() made
  Uuid uuid();

 private:
  uint8_t fail() {
    bad_ = true;
    return 0;
  }
  uint8_t byte(char high, char low);

  std::string_view rest_;
  bool bad_ = false;
};

}  // namespace blip::ctf
