// SPDX-License-Identifier: MIT
#include "bt/format_string.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace blip::bt {

namespace {

constexpr std::array<std::string_view, 14> kHow = {"rh", "rx", "r", "d", "i", "u",  "o",
                                                   "x",  "X",  "c", "s", "p", "gr", "%"};
constexpr int kWidest = 4096;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int number(std::string_view& text) {
  int n = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), n);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return failed == std::errc() ? std::min(n, kWidest) : 0;
}

// Behind a %; nullopt: it is no conversion.
std::optional<FormatPart> parse_part(std::string_view& text) {
  std::string_view rest = text;
  FormatPart part;
  const auto take = [&](char c) {
    const bool is_there = rest.starts_with(c);
    if (is_there) rest.remove_prefix(1);
    return is_there;
  };
  part.is_left = take('-');
  part.has_plus = take('+');
  take(' ');
  part.has_base = take('#');
  part.has_zeros = take('0');
  if (!rest.empty() && is_digit(rest[0])) part.width = number(rest);
  if (take('.')) number(rest);
  while (!rest.empty() && std::string_view("hlLjzt").find(rest[0]) != std::string_view::npos) {
    part.length += rest[0];
    rest.remove_prefix(1);
  }
  for (const std::string_view how : kHow) {
    if (!rest.starts_with(how)) continue;
    part.how = how;
    rest.remove_prefix(how.size());
    text = rest;
    return part;
  }
  return std::nullopt;
}

std::optional<uint64_t> as_number(const Shown& value) {
  if (const auto* b = std::get_if<bool>(&value.value)) return *b;
  if (const auto* n = std::get_if<int64_t>(&value.value)) return static_cast<uint64_t>(*n);
  if (const auto* n = std::get_if<uint64_t>(&value.value)) return *n;
  if (const auto* s = std::get_if<Shown::Symbol>(&value.value)) return s->number;
  return std::nullopt;
}

// Without a length it is an int, as in C.
unsigned size_of(const std::string& length) {
  if (length == "hh") return 1;
  if (length == "h") return 2;
  return length.empty() ? 4 : 8;
}

std::string show_number(const FormatPart& part, uint64_t n) {
  const unsigned bits = size_of(part.length) * 8;
  const uint64_t low = bits == 64 ? n : n & ((uint64_t{1} << bits) - 1);
  if (part.how == "d" || part.how == "i") {
    const auto value = static_cast<int64_t>(low << (64 - bits)) >> (64 - bits);
    return (part.has_plus && value >= 0 ? "+" : "") + fmt::format("{}", value);
  }
  if (part.how == "u") return fmt::format("{}", low);
  if (part.how == "o") return (part.has_base && low ? "0" : "") + fmt::format("{:o}", low);
  if (part.how == "X") return (part.has_base && low ? "0X" : "") + fmt::format("{:X}", low);
  if (part.how == "p") return n == 0 ? "0" : fmt::format("0x{:x}", n);
  return (part.has_base && low ? "0x" : "") + fmt::format("{:x}", low);
}

std::string show(const FormatPart& part, const Shown& value) {
  if (part.how == "s") return to_text(value);
  if (part.how[0] == 'r') {
    const auto* bytes = std::get_if<Shown::Bytes>(&value.value);
    return bytes ? bytes_as_text(bytes->bytes, part.how == "r", part.how != "rh") : to_text(value);
  }
  const auto n = as_number(value);
  if (!n) return to_text(value);
  if (part.how == "c") return std::string(1, static_cast<char>(*n));
  return show_number(part, *n);
}

std::string padded(const FormatPart& part, std::string text) {
  const auto width = static_cast<size_t>(part.width);
  if (text.size() >= width) return text;
  const std::string fill(width - text.size(), part.has_zeros ? '0' : ' ');
  return part.is_left ? text + fill : fill + text;
}

}  // namespace

FormatText parse_format(std::string_view text) {
  FormatText result;
  std::string before;
  while (!text.empty()) {
    if (text[0] == '%') {
      std::string_view rest = text.substr(1);
      if (auto part = parse_part(rest)) {
        text = rest;
        if (part->how == "%") {
          before += '%';
          continue;
        }
        part->before = std::exchange(before, {});
        result.parts.push_back(*std::move(part));
        continue;
      }
    }
    before += text[0];
    text.remove_prefix(1);
  }
  result.behind = std::move(before);
  return result;
}

std::string wrong_with_format(std::string_view text, const std::vector<Type>& arguments) {
  const FormatText format = parse_format(text);
  if (format.parts.size() != arguments.size())
    return fmt::format("{} arguments for the format: it wants {}, and here {} {}",
                       arguments.size() < format.parts.size() ? "not enough" : "too many",
                       format.parts.size(), arguments.size() == 1 ? "is" : "are", arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Type& type = arguments[i];
    const std::string& how = format.parts[i].how;
    if (type.is_unknown() || how == "s") continue;
    if (how == "gr") return "%gr shows flags of the kernel: use %x";
    if (how[0] == 'r' ? type.kind == Type::Kind::kBuffer : type.is_number() && type.kind != Type::Kind::kUser)
      continue;
    return fmt::format("%{} does not show {}", how, to_string(type));
  }
  return {};
}

std::string apply_format(const FormatText& format, const std::vector<Shown>& arguments) {
  std::string out;
  for (size_t i = 0; i < format.parts.size() && i < arguments.size(); ++i)
    out += format.parts[i].before + padded(format.parts[i], show(format.parts[i], arguments[i]));
  return out + format.behind;
}

}  // namespace blip::bt
