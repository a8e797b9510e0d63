// SPDX-License-Identifier: MIT
#include "cli/help/roff.h"

#include <algorithm>
#include <cctype>

namespace blip::cli {
namespace {

constexpr size_t kLineWidth = 80;

enum class Font { kRoman, kBold, kItalic };

bool is_capital(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string in_font(Font font, std::string_view text) {
  if (font == Font::kRoman || text.empty()) return roff_escaped(text);
  return (font == Font::kBold ? "\\fB" : "\\fI") + roff_escaped(text) + "\\fR";
}

// The longest piece at the start of `text` that stands in one font.
std::pair<Font, size_t> next_piece(std::string_view text) {
  constexpr std::string_view kNeither = "[]|(), .";
  if (kNeither.find(text[0]) != std::string_view::npos) {
    const bool dots = text[0] == '.' && !text.starts_with("...");
    if (!dots) return {Font::kRoman, text.starts_with("...") ? 3 : 1};
  }
  size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  if (end > 0)
    return {std::all_of(text.begin(), text.begin() + end, is_capital) ? Font::kItalic : Font::kBold, end};
  return {Font::kBold, 1};
}

// The last blank within the width (else the first) whose next word does not look like a request.
size_t place_to_break(std::string_view line) {
  const auto fits = [&](size_t at) { return line[at + 1] != '.' && line[at + 1] != '\''; };
  for (size_t at = line.rfind(' ', kLineWidth); at != line.npos && at > 0; at = line.rfind(' ', at - 1))
    if (fits(at)) return at;
  for (size_t at = line.find(' ', kLineWidth); at != line.npos && at + 1 < line.size();
       at = line.find(' ', at + 1))
    if (fits(at)) return at;
  return line.npos;
}

}  // namespace

std::string roff_escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool at_start = out.empty() || out.back() == '\n';
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '.':
        out += at_start ? "\\&." : ".";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string roff_text(std::string_view text) {
  std::string out;
  for (bool typed = false; !text.empty(); typed = !typed) {
    const size_t end = std::min(text.find('`'), text.size());
    out += in_font(typed ? Font::kBold : Font::kRoman, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string roff_paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find("\n\n"), text.size());
    out += (out.empty() ? "" : ".PP\n") + roff_text(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return out;
}

std::string roff_usage(std::string_view text) {
  std::string out;
  std::string piece;
  Font font = Font::kRoman;
  while (!text.empty()) {
    const auto [next, size] = next_piece(text);
    if (next != font) {
      out += in_font(font, piece);
      piece.clear();
      font = next;
    }
    piece += text.substr(0, size);
    text.remove_prefix(size);
  }
  return out + in_font(font, piece);
}

std::string roff_filled(std::string_view page) {
  std::string out;
  bool fill = true;
  while (!page.empty()) {
    std::string_view line = page.substr(0, page.find('\n'));
    page.remove_prefix(std::min(line.size() + 1, page.size()));
    if (line == ".nf" || line == ".fi") fill = line == ".fi";
    const bool is_text = fill && !line.starts_with('.');
    for (size_t end; is_text && line.size() > kLineWidth && (end = place_to_break(line)) != line.npos;) {
      out += line.substr(0, end);
      out += '\n';
      line.remove_prefix(end + 1);
    }
    out += line;
    out += '\n';
  }
  return out;
}

}  // namespace blip::cli
