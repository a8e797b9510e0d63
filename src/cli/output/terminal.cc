// SPDX-License-Identifier: MIT
#include "cli/output/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace blip::cli {
namespace {

constexpr std::string_view kGap = "...";

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

// The offset of the first byte of the character with this number.
size_t offset_of(std::string_view text, size_t character) {
  size_t at = 0;
  for (; at < text.size(); ++at)
    if (begins_character(text[at]) && character-- == 0) break;
  return at;
}

}  // namespace

size_t window_columns(int fd) {
  winsize size{};
  return isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

size_t table_columns(int fd) {
  if (isatty(fd) != 1) return 0;
  const char* told = std::getenv("COLUMNS");
  const char* end = told ? told + std::strlen(told) : nullptr;
  size_t columns = 0;
  const bool is_number = told && std::from_chars(told, end, columns).ptr == end;
  return is_number && columns != 0 ? columns : window_columns(fd);
}

size_t text_width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string cut_in_the_middle(std::string text, size_t width) {
  const size_t whole = text_width(text);
  if (whole <= width) return text;
  const size_t kept = std::max(width, kGap.size()) - kGap.size();
  const size_t tail = kept / 2;
  const size_t from = offset_of(text, kept - tail), to = offset_of(text, whole - tail);
  return text.replace(from, to - from, kGap);
}

}  // namespace blip::cli
