// SPDX-License-Identifier: MIT
#include "bt/show.h"

#include <fmt/format.h>
#include <pwd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>

#include "bt/bytes.h"
#include "bt/histograms.h"

namespace blip::bt {

namespace {

using Kind = Type::Kind;
using script::Argument;
using state::ValueType;

int64_t as_signed(uint64_t n) { return static_cast<int64_t>(n); }

Shown number(uint64_t n, bool is_signed, uint64_t divisor) {
  divisor = std::max<uint64_t>(1, divisor);
  if (is_signed) return {as_signed(n) / as_signed(divisor)};
  return {n / divisor};
}

std::vector<Argument> arguments_of(const std::string& bytes, const std::vector<ValueType>& types) {
  std::vector<Argument> result;
  for (size_t i = 0; i < types.size(); ++i) {
    const state::KeyComponent c = state::component_of(bytes, types, i);
    result.push_back({c.number, c.text});
  }
  return result;
}

// -1, 0, 1: as bpftrace orders keys, by their integers and texts from the first on.
int compare_keys(const Type& type, std::span<const Argument> a, std::span<const Argument> b) {
  if (type.kind != Kind::kTuple) {
    if (type.kind == Kind::kInteger)
      return as_signed(a[0].number) < as_signed(b[0].number)   ? -1
             : as_signed(a[0].number) > as_signed(b[0].number) ? 1
                                                               : 0;
    return type.is_text() ? a[0].text.compare(b[0].text) : 0;
  }
  size_t at = 0;
  for (const Field& f : type.fields) {
    const size_t count = count_leaves(f.type);
    if (f.type.kind != Kind::kTuple)
      if (const int order = compare_keys(f.type, a.subspan(at, count), b.subspan(at, count)); order != 0)
        return order;
    at += count;
  }
  return 0;
}

// What entries are sorted by, if not by their keys.
std::optional<uint64_t> weight_of(const MapShape& shape, const state::MapType& type, const state::Map& map,
                                  const state::Map::Step& step) {
  const auto statistic = [&](state::Statistic what) {
    return map.stats_of(step).get(type, what).value_or(0);
  };
  switch (shape.value.kind) {
    case Kind::kInteger:
    case Kind::kEnum:
    case Kind::kCount:
    case Kind::kSum:
      return map.number_of(step);
    case Kind::kMin:
      return statistic(state::Statistic::kMin);
    case Kind::kMax:
      return statistic(state::Statistic::kMax);
    case Kind::kAverage:
    case Kind::kStats:
      return statistic(state::Statistic::kAverage);
    case Kind::kHist:
    case Kind::kLhist:
      return statistic(state::Statistic::kCount);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string user_name(uint64_t uid) {
  const passwd* found = ::getpwuid(static_cast<uid_t>(uid));
  return found ? found->pw_name : "";
}

std::string format_time(uint64_t nanoseconds, const std::string& format) {
  constexpr uint64_t kSecond = 1'000'000'000;
  const auto seconds = static_cast<time_t>(nanoseconds / kSecond);
  std::tm time{};
  ::localtime_r(&seconds, &time);
  // %f is bpftrace's own: microseconds.
  std::string filled;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] == '%' && i + 1 < format.size()) {
      if (format[i + 1] == 'f')
        filled += fmt::format("{:06}", nanoseconds % kSecond / 1000);
      else
        filled += format.substr(i, 2);
      ++i;
      continue;
    }
    filled += format[i];
  }
  std::array<char, 512> text{};
  const size_t size = std::strftime(text.data(), text.size(), filled.c_str(), &time);
  return {text.data(), size};
}

std::string symbol_name(script::World& world, uint64_t pid, uint64_t address, bool has_offset) {
  const auto names = world.names_of(pid, address);
  if (names.empty() || names.back().function.empty()) {
    if (!names.empty() && !names.back().module.empty() && has_offset)
      return fmt::format("{:#x} ([unknown])", address);
    return fmt::format("{:#x}", address);
  }
  const script::CodeName& name = names.back();
  return has_offset ? fmt::format("{}+{}", name.function, name.offset) : name.function;
}

namespace {

// One line for each function: those that are inlined there come first.
std::string frame(script::World& world, const Type& type, bool has_lines, uint64_t pid, uint64_t address) {
  const bool is_perf = type.name == "perf";
  auto names = world.names_of(pid, address);
  if (names.empty()) names.emplace_back();
  std::string text;
  for (size_t i = has_lines ? 0 : names.size() - 1; i < names.size(); ++i) {
    const script::CodeName& name = names[i];
    const bool is_inlined = i + 1 < names.size();
    std::string shown = name.function.empty() ? fmt::format("{:#x}", address)
                        : is_inlined          ? name.function
                                              : fmt::format("{}+{}", name.function, name.offset);
    if (is_perf) {
      const std::string module = is_inlined ? "inlined" : name.module.empty() ? "[unknown]" : name.module;
      text += fmt::format("\t{:x} {} ({})\n", address, shown, module);
      continue;
    }
    if (has_lines && !name.file.empty()) shown += fmt::format("@{}:{}", name.file, name.line);
    text += fmt::format("        {}{}\n", is_inlined ? "[inlined] " : "", shown);
  }
  return text;
}

}  // namespace

std::string Shower::stack(const Type& type, uint64_t pid, uint64_t number) const {
  std::string text = "\n";
  const auto frames = world.stack(number);
  for (size_t i = 0; i < frames.size() && i < type.limit; ++i)
    text += type.name == "raw" ? fmt::format("{:x}\n", frames[i])
                               : frame(world, type, config.show_debug_info, pid, frames[i]);
  return text;
}

Shown Shower::value(const Type& type, std::span<const Argument> leaves, uint64_t divisor) const {
  switch (type.kind) {
    case Kind::kBool:
      return {leaves[0].number != 0};
    case Kind::kText: {
      std::string text(leaves[0].text);
      if (type.most != 0 && text.size() >= type.most) text += config.str_trunc_trailer;
      return {text};
    }
    case Kind::kBuffer:
      return {Shown::Bytes{std::string(leaves[0].text)}};
    case Kind::kPointer:
    case Kind::kTarget:
      return {Shown::Symbol{fmt::format("{:#x}", leaves[0].number), leaves[0].number}};
    case Kind::kEnum: {
      const auto n = as_signed(leaves[0].number);
      for (const script::Enumerator& e : script::resolve(*type.target).enumerators)
        if (e.value == n) return {Shown::Symbol{e.name, leaves[0].number}};
      return {Shown::Symbol{fmt::format("{}", n), leaves[0].number}};
    }
    case Kind::kUstack:
      return {stack(type, leaves[0].number, leaves[1].number)};
    case Kind::kUsym:
      return {symbol_name(world, leaves[0].number, leaves[1].number, false)};
    case Kind::kUser:
      return {user_name(leaves[0].number)};
    case Kind::kTimestamp:
      return {format_time(leaves[0].number, type.name)};
    case Kind::kTuple:
    case Kind::kArray:
    case Kind::kRecord: {
      Shown::List values;
      Shown::Record record;
      size_t at = 0;
      for (const Field& f : type.fields) {
        const size_t count = count_leaves(f.type);
        Shown part = value(f.type, leaves.subspan(at, count), divisor);
        at += count;
        if (type.kind == Kind::kRecord)
          record.fields.push_back({f.name, std::move(part)});
        else
          values.push_back(std::move(part));
      }
      if (type.kind == Kind::kRecord) return {std::move(record)};
      if (type.kind == Kind::kArray) return {Shown::Array{std::move(values)}};
      return {Shown::Tuple{std::move(values)}};
    }
    case Kind::kNothing:
      return {};
    default: {
      const bool is_signed = type.kind == Kind::kCount ? false : type.is_signed;
      return number(leaves[0].number, is_signed, divisor);
    }
  }
}

ShownEntry Shower::of_stats(const MapShape& shape, const state::MapType& type, const state::Stats& stats,
                            uint64_t divisor) const {
  const bool is_signed = shape.value.is_signed;
  const auto get = [&](state::Statistic what) { return stats.get(type, what).value_or(0); };
  switch (shape.value.kind) {
    case Kind::kMin:
      return number(get(state::Statistic::kMin), is_signed, divisor);
    case Kind::kMax:
      return number(get(state::Statistic::kMax), is_signed, divisor);
    case Kind::kAverage:
      return number(get(state::Statistic::kAverage), is_signed, divisor);
    case Kind::kStats: {
      Shown::Record record;
      record.fields.push_back({"count", number(stats.count, false, 1)});
      record.fields.push_back({"average", number(get(state::Statistic::kAverage), is_signed, divisor)});
      record.fields.push_back({"total", number(stats.sum, is_signed, 1)});
      return Shown{std::move(record)};
    }
    case Kind::kHist:
      return show_hist(stats.buckets, shape.bits, divisor);
    default:
      return show_lhist(stats.buckets, shape);
  }
}

namespace {

uint64_t of_series(const MapShape& shape, const state::MapType& type, const state::Stats& stats) {
  using state::Statistic;
  const Statistic what = shape.fold == "avg"   ? Statistic::kAverage
                         : shape.fold == "min" ? Statistic::kMin
                         : shape.fold == "max" ? Statistic::kMax
                                               : Statistic::kSum;  // of one number, if there is no function
  return stats.get(type, what).value_or(0);
}

// The intervals that the newest one leaves: from the first that has something on.
ShownSeries series(const MapShape& shape, const std::map<uint64_t, uint64_t>& values, uint64_t last) {
  ShownSeries result;
  const uint64_t first = last < shape.intervals ? 0 : last - shape.intervals + 1;
  for (uint64_t epoch = std::max(first, values.empty() ? first : std::max(first, values.begin()->first));
       epoch <= last; ++epoch) {
    const auto found = values.find(epoch);
    ShownSeries::Point point{.time = epoch * shape.interval};
    if (found != values.end()) point.value = number(found->second, shape.value.is_signed, 1);
    result.points.push_back(std::move(point));
  }
  return result;
}

}  // namespace

ShownMap Shower::map(const MapShape& shape, const state::Map& map, uint64_t top, uint64_t divisor,
                     bool shows_unset) const {
  const state::MapType& type = map.type();
  ShownMap result{.is_scalar = shape.is_scalar};
  result.is_stats = shape.value.kind == Kind::kAverage || shape.value.kind == Kind::kStats;
  if (shape.value.kind == Kind::kTseries) {
    std::map<std::string, std::map<uint64_t, uint64_t>> by_key;
    std::vector<ValueType> key_types(type.key.begin(), type.key.end() - 1);
    uint64_t last = 0;
    for (const auto& step : map.walk({}, UINT64_MAX)) {
      const auto key = arguments_of(map.key_of(step), type.key);
      const uint64_t epoch = key.back().number;
      last = std::max(last, epoch);
      by_key[pack(key_types, key.data())][epoch] = of_series(shape, type, map.stats_of(step));
    }
    for (const auto& [key, values] : by_key)
      result.entries.emplace_back(shape.is_scalar ? Shown() : value(shape.key, unpack(key_types, key)),
                                  series(shape, values, last));
    if (shape.is_scalar && result.entries.empty()) result.entries.emplace_back(Shown(), ShownSeries());
    return result;
  }
  auto steps = map.walk({}, UINT64_MAX);
  struct Row {
    state::Map::Step step;
    std::vector<Argument> key;
    std::optional<uint64_t> weight;
  };
  std::vector<Row> rows;
  for (const auto& step : steps)
    rows.push_back({step, arguments_of(map.key_of(step), type.key), weight_of(shape, type, map, step)});
  const bool is_signed = shape.value.is_signed && shape.value.kind != Kind::kHist &&
                         shape.value.kind != Kind::kLhist && shape.value.kind != Kind::kMin &&
                         shape.value.kind != Kind::kMax;
  const bool has_keys = !shape.is_scalar && !shape.key.is_unknown();
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    if (a.weight && b.weight && *a.weight != *b.weight)
      return is_signed ? as_signed(*a.weight) < as_signed(*b.weight) : *a.weight < *b.weight;
    return has_keys && compare_keys(shape.key, a.key, b.key) < 0;
  });
  const size_t skipped = top != 0 && rows.size() > top ? rows.size() - top : 0;
  for (size_t i = skipped; i < rows.size(); ++i) {
    const auto& step = rows[i].step;
    ShownEntry entry;
    if (type.value == ValueType::kStats) {
      entry = of_stats(shape, type, map.stats_of(step), divisor);
    } else if (type.value == ValueType::kNumber) {
      const Argument a{.number = map.number_of(step)};
      entry = value(shape.value, {&a, 1}, divisor);
    } else if (shape.value.is_several() || count_leaves(shape.value) > 1) {
      entry = value(shape.value, unpack(leaves_of(shape.value), map.text_of(step)), divisor);
    } else {
      const Argument a{.text = map.text_of(step)};
      entry = value(shape.value, {&a, 1}, divisor);
    }
    result.entries.emplace_back(has_keys ? value(shape.key, rows[i].key) : Shown(), std::move(entry));
  }
  // A map of one value shows what it has before anything was put there.
  const Kind kind = shape.value.kind;
  const bool has_zero = shows_unset && kind != Kind::kUstack && kind != Kind::kUsym;
  if (shape.is_scalar && result.entries.empty() && has_zero) {
    if (type.value == ValueType::kStats) {
      if (result.is_stats) result.entries.emplace_back(Shown(), of_stats(shape, type, {}, 1));
    } else {
      const std::vector<Argument> zeros(count_leaves(shape.value));
      result.entries.emplace_back(Shown(), value(shape.value, zeros, 1));
    }
  }
  return result;
}

ShownMap Shower::entry(const MapShape& shape, const state::Map& map, std::span<const Argument> key) const {
  ShownMap result{.is_scalar = false};
  const state::MapType& type = map.type();
  result.is_stats = shape.value.kind == Kind::kAverage || shape.value.kind == Kind::kStats;
  state::Key packed_key;
  for (size_t i = 0; i < type.key.size() && i < key.size(); ++i) {
    if (type.key[i] == ValueType::kText)
      packed_key.add(key[i].text);
    else
      packed_key.add(key[i].number);
  }
  ShownEntry entry;
  if (type.value == ValueType::kStats) {
    entry = of_stats(shape, type, map.stats(packed_key), 1);
  } else {
    const Argument a{.number = map.number(packed_key)};
    entry = value(shape.value, {&a, 1});
  }
  result.entries.emplace_back(value(shape.key, key), std::move(entry));
  return result;
}

}  // namespace blip::bt
