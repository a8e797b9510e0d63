// SPDX-License-Identifier: MIT
#include "cli/options/values.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <limits>
#include <string>

#include "cli/options/usage_error.h"

namespace blip::cli {
namespace {

struct Leading {
  uint64_t value = 0;
  std::string_view rest;
};

// The digits at the start of `text`; nothing for no digits or more than 64 bits.
bool leading_digits(std::string_view text, Leading& out) {
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, out.value);
  if (error != std::errc() || stop == text.data()) return false;
  out.rest = std::string_view(stop, static_cast<size_t>(end - stop));
  return true;
}

constexpr uint64_t kSecond = 1'000'000'000;

struct Unit {
  std::string_view name;
  uint64_t ns;
};
constexpr Unit kUnits[] = {
    {"", kSecond},  {"ns", 1},           {"us", 1'000},         {"ms", 1'000'000},
    {"s", kSecond}, {"m", 60 * kSecond}, {"h", 3600 * kSecond}, {"d", 86400 * kSecond},
};

const Unit* find_unit(std::string_view name) {
  for (const Unit& unit : kUnits)
    if (unit.name == name) return &unit;
  return nullptr;
}

// Takes ".5" off the front of `rest` as nanoseconds of `unit`; `rest` is the digits after the point.
uint64_t fraction_of(std::string_view digits, uint64_t unit_ns) {
  uint64_t sum = 0;
  uint64_t weight = unit_ns;
  for (char digit : digits) {
    weight /= 10;
    sum += weight * static_cast<uint64_t>(digit - '0');
  }
  return sum;
}

std::string size_text(uint64_t size) {
  if (size >= 1U << 30 && size % (1U << 30) == 0) return fmt::format("{}G", size >> 30);
  if (size >= 1U << 20 && size % (1U << 20) == 0) return fmt::format("{}M", size >> 20);
  if (size >= 1U << 10 && size % (1U << 10) == 0) return fmt::format("{}k", size >> 10);
  return std::to_string(size);
}

}  // namespace

Result<uint64_t> parse_number(std::string_view text, uint64_t least, uint64_t most) {
  Leading number;
  if (!leading_digits(text, number) || !number.rest.empty())
    return usage(fmt::format("'{}' is not a number", text));
  if (number.value < least) return usage(fmt::format("{} is too small: at least {}", text, least));
  if (number.value > most) return usage(fmt::format("{} is too large: at most {}", text, most));
  return number.value;
}

Result<uint64_t> parse_size(std::string_view text) {
  Leading number;
  const auto bad = [&] {
    return usage(fmt::format("'{}' is not a size: give bytes, or a number with k, M or G", text));
  };
  if (!leading_digits(text, number) || number.rest.size() > 1) return bad();
  unsigned shift = 0;
  if (!number.rest.empty()) {
    switch (number.rest[0]) {
      case 'k':
      case 'K':
        shift = 10;
        break;
      case 'm':
      case 'M':
        shift = 20;
        break;
      case 'g':
      case 'G':
        shift = 30;
        break;
      default:
        return bad();
    }
  }
  if (number.value > std::numeric_limits<uint64_t>::max() >> shift) return bad();
  return number.value << shift;
}

Result<uint32_t> parse_power_of_two(std::string_view text, uint32_t least, uint32_t most) {
  TRY(const uint64_t size, parse_size(text));
  if (size < least) return usage(fmt::format("{} is too small: at least {}", text, size_text(least)));
  if (size > most) return usage(fmt::format("{} is too large: at most {}", text, size_text(most)));
  if (!std::has_single_bit(size))
    return usage(fmt::format("{} is not a power of two: {} or {} would be", text,
                             size_text(std::bit_floor(size)), size_text(std::bit_ceil(size))));
  return static_cast<uint32_t>(size);
}

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const auto bad = [&] {
    return usage(fmt::format("'{}' is not a time: 10s, 500ms, 2m, 1h, or seconds", text));
  };
  Leading number;
  if (!leading_digits(text, number)) return bad();
  std::string_view digits;
  if (number.rest.starts_with('.')) {
    const size_t end = number.rest.find_first_not_of("0123456789", 1);
    digits = number.rest.substr(1, end == std::string_view::npos ? end : end - 1);
    if (digits.empty()) return bad();
    number.rest.remove_prefix(1 + digits.size());
  }
  const Unit* unit = find_unit(number.rest);
  if (!unit) return bad();
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  if (number.value >= kMost / unit->ns) return usage(fmt::format("{} is too long", text));
  const uint64_t ns = number.value * unit->ns + fraction_of(digits, unit->ns);
  if (ns == 0) return usage(fmt::format("{} is no time at all", text));
  return std::chrono::nanoseconds(static_cast<int64_t>(ns));
}

Result<std::chrono::nanoseconds> parse_short_duration(std::string_view text) {
  const bool plain = !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
  auto parsed = parse_duration(plain ? std::string(text) + "ms" : std::string(text));
  if (parsed) return parsed;
  if (text.find_first_not_of("0.") == std::string_view::npos && !text.empty())
    return usage(fmt::format("{} is no time at all", text));
  return usage(
      fmt::format("'{}' is not a time: 20, 20ms, 0.5ms, 1s; a plain number means milliseconds", text));
}

}  // namespace blip::cli
