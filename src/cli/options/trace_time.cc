// SPDX-License-Identifier: MIT
#include "cli/options/trace_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "cli/options/values.h"

namespace blip::cli {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr size_t kFractionDigits = 9;
constexpr size_t kNanosecondDigits = 16;  // seconds have fewer for thirty million years
constexpr size_t kMostDigits = 18;        // of an int64_t
constexpr std::string_view kDigits = "0123456789";

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
}

int64_t number(std::string_view digits) {
  int64_t value = 0;
  for (const char digit : digits) value = value * 10 + (digit - '0');
  return value;
}

// ".25" as nanoseconds; empty is none.
std::optional<int64_t> fraction_ns(std::string_view text) {
  if (text.empty()) return 0;
  const std::string_view digits = text.substr(1);
  if (text[0] != '.' || !all_digits(digits) || digits.size() > kFractionDigits) return std::nullopt;
  int64_t ns = number(digits);
  for (size_t i = digits.size(); i < kFractionDigits; ++i) ns *= 10;
  return ns;
}

// A text of the form of `shape`, where each 0 is a digit: the numbers in it.
bool has_shape(std::string_view text, std::string_view shape) {
  return text.size() == shape.size() &&
         std::equal(text.begin(), text.end(), shape.begin(),
                    [](char c, char wanted) { return wanted == '0' ? c >= '0' && c <= '9' : c == wanted; });
}

constexpr std::string_view kClockShape = "00:00:00";
constexpr std::string_view kDateShape = "0000-00-00";

// HH:MM:SS[.FRACTION] since midnight.
std::optional<int64_t> time_of_day_ns(std::string_view text) {
  const std::string_view clock = text.substr(0, kClockShape.size());
  if (!has_shape(clock, kClockShape)) return std::nullopt;
  const auto fraction = fraction_ns(text.substr(clock.size()));
  const int64_t hours = number(clock.substr(0, 2)), minutes = number(clock.substr(3, 2));
  const int64_t seconds = number(clock.substr(6, 2));
  constexpr int64_t kHours = 24, kSixty = 60;
  if (!fraction || hours >= kHours || minutes >= kSixty || seconds > kSixty) return std::nullopt;
  return ((hours * kSixty + minutes) * kSixty + seconds) * kSecond + *fraction;
}

// With mktime(3)'s view of summer time: the day is that of `date`.
int64_t local_ns(tm date, int64_t since_midnight_ns) {
  date.tm_hour = date.tm_min = 0;
  date.tm_sec = static_cast<int>(since_midnight_ns / kSecond);
  date.tm_isdst = -1;
  return int64_t{::mktime(&date)} * kSecond + since_midnight_ns % kSecond;
}

std::optional<int64_t> date_ns(std::string_view text) {
  const std::string_view day = text.substr(0, kDateShape.size());
  if (!has_shape(day, kDateShape) || text.size() <= day.size()) return std::nullopt;
  const char between = text[day.size()];
  std::string_view clock = text.substr(day.size() + 1);
  const bool is_utc = clock.ends_with('Z');
  if (is_utc) clock.remove_suffix(1);
  const auto ns = time_of_day_ns(clock);
  if (!ns || (between != ' ' && between != 'T')) return std::nullopt;
  constexpr int kFirstYear = 1900;
  tm date{};
  date.tm_year = static_cast<int>(number(day.substr(0, 4))) - kFirstYear;
  date.tm_mon = static_cast<int>(number(day.substr(5, 2))) - 1;
  date.tm_mday = static_cast<int>(number(day.substr(8, 2)));
  return is_utc ? int64_t{::timegm(&date)} * kSecond + *ns : local_ns(date, *ns);
}

std::optional<int64_t> since_1970_ns(std::string_view text) {
  const size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  if (!all_digits(whole) || whole.size() > kMostDigits + 1) return std::nullopt;
  if (point == text.size() && whole.size() >= kNanosecondDigits) return number(whole);
  const auto fraction = fraction_ns(text.substr(point));
  constexpr size_t kMostSeconds = kMostDigits - kFractionDigits + 1;
  if (!fraction || whole.size() > kMostSeconds || number(whole) > INT64_MAX / kSecond - 1)
    return std::nullopt;
  return number(whole) * kSecond + *fraction;
}

}  // namespace

Result<TraceTime> TraceTime::parse(std::string_view text) {
  if (text.starts_with('@')) {
    if (const auto ns = since_1970_ns(text.substr(1))) return TraceTime(Kind::kAbsolute, *ns);
  } else if (const auto of_day = time_of_day_ns(text)) {
    return TraceTime(Kind::kTimeOfDay, *of_day);
  } else if (const auto date = date_ns(text)) {
    return TraceTime(Kind::kAbsolute, *date);
  } else {
    const bool from_end = text.starts_with('-');
    if (const auto ns = parse_duration(from_end ? text.substr(1) : text))
      return TraceTime(from_end ? Kind::kBeforeEnd : Kind::kAfterBegin, ns->count());
  }
  return Error(ErrorKind::kUsage,
               fmt::format("'{}' is no time of a trace: 2s or 20ms after its begin, -2s before its end, "
                           "14:03:07.25, '2026-01-31 14:03:07', or @SECONDS",
                           text));
}

int64_t TraceTime::at_ns(const TraceSpan& span) const {
  switch (kind_) {
    case Kind::kAfterBegin:
      return span.begin_ns + ns_;
    case Kind::kBeforeEnd:
      return span.end_ns - ns_;
    case Kind::kAbsolute:
      return ns_;
    case Kind::kTimeOfDay:
      break;
  }
  // On the day of the begin; in a trace over midnight, if that was before the begin, on the next one.
  const time_t begin = span.begin_ns / kSecond;
  tm day{};
  ::localtime_r(&begin, &day);
  const int64_t first = local_ns(day, ns_);
  ++day.tm_mday;
  const int64_t next = local_ns(day, ns_);
  return first < span.begin_ns && next <= span.end_ns ? next : first;
}

}  // namespace blip::cli
