// SPDX-License-Identifier: MIT
#include "stap/render.h"

#include <algorithm>
#include <bit>

namespace blip::stap {

namespace {

using script::Argument;
using Kind = Directive::Kind;

constexpr int kMostBytes = 8;  // of %b

// Digits of a number with its sign and prefix, in a field.
struct Field {
  int width = 0;
  int precision = -1;
  bool is_left = false, pads_zero = false;
};

std::string digits(uint64_t n, unsigned base, bool is_upper) {
  const char* all = is_upper ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string result;
  do result += all[n % base];
  while ((n /= base) != 0);
  std::reverse(result.begin(), result.end());
  return result;
}

void pad(std::string& out, size_t used, int width, char with) {
  if (width > 0 && static_cast<size_t>(width) > used) out.append(static_cast<size_t>(width) - used, with);
}

std::string number_text(const Directive& d, const Field& f, uint64_t n) {
  std::string sign;
  if (d.is_signed && static_cast<int64_t>(n) < 0) {
    sign = "-";
    n = 0 - n;
  } else if (d.has_plus) {
    sign = "+";
  } else if (d.has_space) {
    sign = " ";
  }
  if (d.is_special && d.base == 16) sign += d.is_upper ? "0X" : "0x";
  if (d.is_special && d.base == 8) sign += "0";
  std::string text = digits(n, d.base, d.is_upper);
  if (f.precision > static_cast<int>(text.size()))
    text.insert(0, static_cast<size_t>(f.precision) - text.size(), '0');
  std::string result;
  const size_t used = sign.size() + text.size();
  if (!f.is_left && !f.pads_zero) pad(result, used, f.width, ' ');
  result += sign;
  if (!f.is_left && f.pads_zero) pad(result, used, f.width, '0');
  result += text;
  if (f.is_left) pad(result, used, f.width, ' ');
  return result;
}

// With # what cannot be printed is escaped.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    constexpr std::string_view kFrom = "\a\b\f\n\r\t\v\"\\", kTo = "abfnrtv\"\\";
    const size_t which = kFrom.find(c);
    if (which != std::string_view::npos) {
      result += {'\\', kTo[which]};
    } else if (c < ' ' || c == 0x7f) {
      const std::string octal = digits(static_cast<unsigned char>(c), 8, false);
      result += '\\' + std::string(3 - octal.size(), '0') + octal;
    } else {
      result += c;
    }
  }
  return result;
}

std::string text_text(const Directive& d, const Field& f, std::string_view text) {
  std::string shown = d.is_special ? escaped(text) : std::string(text);
  if (f.precision >= 0) shown.resize(std::min(shown.size(), static_cast<size_t>(f.precision)));
  std::string result;
  if (!f.is_left) pad(result, shown.size(), f.width, ' ');
  result += shown;
  if (f.is_left) pad(result, shown.size(), f.width, ' ');
  return result;
}

// The low bytes as they lie in memory.
std::string binary_text(const Field& f, uint64_t n) {
  int bytes = f.precision >= 0 ? f.precision : f.width > 0 ? f.width : kMostBytes;
  bytes = std::min(bytes, kMostBytes);
  if (bytes != 1 && bytes != 2 && bytes != 4) bytes = kMostBytes;
  std::string result;
  for (int i = 0; i < bytes; ++i) result += static_cast<char>(n >> 8 * i & 0xff);
  return result;
}

std::string one(const Directive& d, const Field& f, const Argument& a) {
  switch (d.kind) {
    case Kind::kText:
      return text_text(d, f, a.text);
    case Kind::kCharacter: {
      const char c = static_cast<char>(a.number);
      const Field field{.width = f.width, .is_left = f.is_left};
      if (!d.is_special) return text_text(d, field, {&c, 1});
      return text_text({}, field, c == '\'' ? "\\'" : c == '"' ? "\"" : escaped({&c, 1}));
    }
    case Kind::kBinary:
      return binary_text(f, a.number);
    default:
      return number_text(d, f, a.number);
  }
}

constexpr uint64_t kWidth = 50;  // of the drawing
constexpr size_t kLogZero = 64;
constexpr size_t kElided = 2;  // empty buckets beside others are shown

size_t space_of(int64_t n) { return std::to_string(n).size(); }

// Decides which buckets are shown, and how.
class Drawing {
 public:
  Drawing(const state::Histogram& h, const std::vector<uint64_t>& buckets) : h_(h), buckets_(buckets) {}

  std::string run() {
    if (!find_range()) return "";
    most_ = *std::max_element(buckets_.begin(), buckets_.end());
    scale_ = most_ <= kWidth ? 1 : (most_ + kWidth - 1) / kWidth;
    std::string result = right("value", value_space(), " |") + std::string(kWidth, '-') + " count\n";
    bool is_eliding = false;
    for (size_t i = low_; i <= high_; ++i) {
      if (is_elided(i)) {
        is_eliding = true;
        continue;
      }
      if (is_eliding) result += std::string(value_space(), ' ') + " ~\n";
      is_eliding = false;
      result += row(i);
    }
    return result + "\n";
  }

 private:
  bool is_log() const { return h_.kind == state::Histogram::Kind::kHistLog; }
  size_t last() const { return buckets_.size() - 1; }

  static std::string right(const std::string& text, size_t width, std::string_view behind) {
    std::string result = text.size() < width ? std::string(width - text.size(), ' ') : "";
    result += text;
    result += behind;
    return result;
  }

  bool find_range() {
    const auto first = std::find_if(buckets_.begin(), buckets_.end(), [](uint64_t n) { return n > 0; });
    if (first == buckets_.end()) return false;
    low_ = static_cast<size_t>(first - buckets_.begin());
    for (size_t i = 0; i < buckets_.size(); ++i)
      if (buckets_[i] > 0) high_ = i;
    for (int i = 0; i < 2; ++i) {
      if (low_ > 0 && !(is_log() && low_ == kLogZero)) --low_;
      if (high_ < last()) ++high_;
    }
    if (is_log()) return true;
    if (low_ == 0 && buckets_[0] == 0) ++low_;
    if (high_ == last() && buckets_[high_] == 0) --high_;
    return true;
  }

  int64_t value(size_t i) const {
    if (!is_log()) {
      const int64_t step = i == 0 ? 0 : static_cast<int64_t>(i) - (i == last() ? 2 : 1);
      return h_.low + step * h_.step;
    }
    if (i == kLogZero) return 0;
    return i < kLogZero ? INT64_MIN >> i : static_cast<int64_t>(uint64_t{1} << (i - kLogZero - 1));
  }

  size_t value_space() const {
    size_t space = 5;  // "value"
    if (is_log()) return std::max({space, space_of(value(high_)), space_of(value(low_))});
    const int64_t top = h_.low + h_.step * static_cast<int64_t>(high_);
    return std::max(
        {space, space_of(h_.low) + (low_ == 0 ? 1 : 0), space_of(top) + (high_ == last() ? 1 : 0)});
  }

  bool is_elided(size_t i) const {
    const size_t from = i > low_ + kElided ? i - kElided : low_;
    const size_t to = std::min(i + kElided, high_);
    return std::all_of(buckets_.begin() + static_cast<ptrdiff_t>(from),
                       buckets_.begin() + static_cast<ptrdiff_t>(to) + 1, [](uint64_t n) { return n == 0; });
  }

  std::string row(size_t i) const {
    std::string name = std::to_string(value(i));
    if (!is_log() && i == 0) name = "<" + name;
    if (!is_log() && i == last()) name = ">" + name;
    const uint64_t length = buckets_[i] / scale_;
    const std::string count = std::to_string(buckets_[i]);
    const size_t space = kWidth - length + 1 + std::to_string(most_).size();
    return right(name, value_space(), " |") + std::string(length, '@') + right(count, space, "\n");
  }

  const state::Histogram& h_;
  const std::vector<uint64_t>& buckets_;
  size_t low_ = 0, high_ = 0;
  uint64_t most_ = 0, scale_ = 1;
};

}  // namespace

std::string render(std::span<const Directive> directives, std::span<const Argument> arguments) {
  std::string result;
  size_t next = 0;
  const auto take = [&] { return next < arguments.size() ? arguments[next++] : Argument{}; };
  for (const Directive& d : directives) {
    if (d.kind == Kind::kLiteral) {
      result += d.literal;
      continue;
    }
    Field f{.width = d.width.value_or(0),
            .precision = d.precision.value_or(-1),
            .is_left = d.is_left,
            .pads_zero = d.pads_zero};
    constexpr int64_t kMost = 1 << 16;
    if (d.takes_width) {
      const auto width = std::clamp(static_cast<int64_t>(take().number), -kMost, kMost);
      f.is_left = f.is_left || width < 0;
      f.width = static_cast<int>(width < 0 ? -width : width);
    }
    if (d.takes_precision)
      f.precision = static_cast<int>(std::clamp(static_cast<int64_t>(take().number), int64_t{0}, kMost));
    result += one(d, f, take());
  }
  return result;
}

std::string draw_histogram(const state::MapType& map, const state::Stats& stats) {
  return stats.buckets.empty() ? "" : Drawing(map.histogram, stats.buckets).run();
}

}  // namespace blip::stap
