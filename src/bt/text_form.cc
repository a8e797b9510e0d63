// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "bt/show.h"
#include "bt/writer.h"

namespace blip::bt {

namespace {

constexpr int kBarWidth = 52;

std::optional<int64_t> plain_number(const Shown& value) {
  if (const auto* n = std::get_if<int64_t>(&value.value)) return *n;
  if (const auto* n = std::get_if<uint64_t>(&value.value)) return static_cast<int64_t>(*n);
  return std::nullopt;
}

bool is_next(const Shown& a, const Shown& b) {
  const auto x = plain_number(a), y = plain_number(b);
  return x && y && *x + 1 == *y;
}

std::string label_of(const ShownHistogram& h, size_t i) {
  if (i == 0 && !h.lower) return "(..., " + to_text(h.labels[0]) + ')';
  const Shown& low = i == 0 ? *h.lower : h.labels[i - 1];
  if (i >= h.labels.size()) return '[' + to_text(low) + ", ...)";
  if (is_next(low, h.labels[i])) return '[' + to_text(low) + ']';
  return '[' + to_text(low) + ", " + to_text(h.labels[i]) + ')';
}

std::string show(const ShownHistogram& h) {
  uint64_t most = 0;
  for (const uint64_t n : h.counts) most = std::max(most, n);
  std::string out;
  for (size_t i = 0; i < h.counts.size(); ++i) {
    const auto width =
        static_cast<int>(static_cast<float>(h.counts[i]) / static_cast<float>(most) * kBarWidth);
    out += fmt::format("{:<16}{:>8} |{:<52}|\n", label_of(h, i), h.counts[i],
                       std::string(static_cast<size_t>(width), '@'));
  }
  return out;
}

// The unit in which a span of time is whole.
struct Unit {
  const char* name;
  uint64_t nanoseconds;
  unsigned digits;
};
constexpr Unit kUnits[] = {{"s", 1'000'000'000, 0}, {"ms", 1'000'000, 3}, {"us", 1000, 6}, {"ns", 1, 9}};

const Unit& unit_of(uint64_t span) {
  for (const Unit& u : kUnits)
    if (span != 0 && span % u.nanoseconds == 0) return u;
  return kUnits[0];
}

std::string clock_text(uint64_t time, const Unit& unit) {
  std::string text = format_time(time, "%H:%M:%S");
  if (unit.digits > 0) text += fmt::format(".{:0{}}", time % 1'000'000'000 / unit.nanoseconds, unit.digits);
  return text;
}

std::string show(const ShownSeries& series) {
  constexpr int kWidth = 53, kPadding = 21;
  if (series.points.empty()) return "<no data>";
  std::optional<int64_t> low, high;
  for (const auto& p : series.points) {
    if (!p.value) continue;
    const int64_t n = plain_number(*p.value).value_or(0);
    low = std::min(low.value_or(n), n);
    high = std::max(high.value_or(n), n);
  }
  if (!low) low = high = 0;
  if (low == high) {
    --*low;
    ++*high;
  }
  const size_t count = series.points.size();
  const uint64_t span =
      (series.points.back().time - series.points.front().time) / (count > 1 ? count - 1 : 1);
  const Unit& unit = unit_of(span);
  const std::string heading = unit.digits ? fmt::format("hh:mm:ss.{}", unit.name) : "hh:mm:ss";
  const size_t time_size = heading.size();
  const std::string bounds = fmt::format("{:<{}}{:>{}}\n", *low, kPadding, *high, kWidth - kPadding);
  std::string out = std::string(time_size + 1, ' ') + bounds;
  out += fmt::format("{:<{}}|{}|\n", heading, time_size + 1, std::string(kWidth - 2, '_'));
  const auto range = static_cast<float>(*high - *low);
  const int zero = *low < 0 && *high > 0 ? static_cast<int>(kWidth * static_cast<float>(-*low) / range) : 0;
  for (const auto& p : series.points) {
    std::string line(kWidth, ' ');
    line.front() = line.back() = '|';
    if (zero > 0) line[static_cast<size_t>(zero)] = '.';
    if (p.value) {
      const int64_t n = plain_number(*p.value).value_or(0);
      const auto at = static_cast<int>((kWidth - 1) * static_cast<float>(n - *low) / range);
      line[static_cast<size_t>(std::clamp(at, 0, kWidth - 1))] = '*';
    }
    out += fmt::format("{} {} {}\n", clock_text(p.time, unit), line, p.value ? to_text(*p.value) : "-");
  }
  std::string bottom(kWidth, '_');
  bottom.front() = bottom.back() = 'v';
  out += std::string(time_size, ' ') + ' ' + bottom + '\n';
  return out + std::string(time_size, ' ') + ' ' + bounds;
}

class TextForm final : public OutputForm {
 public:
  std::string map(const std::string& name, const ShownMap& map) const override {
    std::string out;
    for (const auto& [key, entry] : map.entries) {
      std::string shown = name;
      if (!map.is_scalar) {
        std::string text = to_text(key);
        // A tuple has no parentheses here.
        if (text.size() >= 2 && text.front() == '(' && text.back() == ')')
          text = text.substr(1, text.size() - 2);
        shown += '[' + text + ']';
      }
      if (const auto* value = std::get_if<Shown>(&entry))
        out += shown + ": " + to_text(*value) + '\n';
      else if (const auto* histogram = std::get_if<ShownHistogram>(&entry))
        out += shown + ":\n" + show(*histogram) + '\n';
      else
        out += shown + ":\n" + show(std::get<ShownSeries>(entry)) + '\n';
    }
    return out;
  }
  std::string value(const Shown& value) const override { return to_text(value) + '\n'; }
  std::string text(std::string_view, const std::string& text) const override { return text; }
};

}  // namespace

std::unique_ptr<OutputForm> make_text_form() { return std::make_unique<TextForm>(); }

}  // namespace blip::bt
