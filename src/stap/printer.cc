// SPDX-License-Identifier: MIT
#include "stap/printer.h"

#include <fmt/core.h>

#include <charconv>

#include "stap/lower.h"
#include "stap/render.h"

namespace blip::stap {

using script::Argument;
using script::Failure;
using script::WantedProbe;

namespace {

// The number that a special format begins with; `rest` is what follows it.
uint32_t take_number(std::string_view& rest) {
  uint32_t number = 0;
  const auto end = std::from_chars(rest.data(), rest.data() + rest.size(), number).ptr;
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  return number;
}

std::string_view type_of(const Handler& handler) {
  switch (handler.wanted.kind) {
    case WantedProbe::Kind::kBegin:
    case WantedProbe::Kind::kEnd:
    case WantedProbe::Kind::kError:
    case WantedProbe::Kind::kNever:
      return handler.point.parts.empty() ? "begin" : std::string_view(handler.point.parts[0].name);
    case WantedProbe::Kind::kTimer:
      return "timer";
    case WantedProbe::Kind::kProfile:
      return "timer.profile";
    case WantedProbe::Kind::kReturn:
      return "return";
    default:
      return "uprobe";
  }
}

std::string words_of(const script::Outcome& outcome) {
  switch (outcome.failure) {
    case Failure::kBudget:
      return "MAXACTION exceeded";
    case Failure::kDepth:
      return "MAXNESTING exceeded";
    case Failure::kMapFull:
      return "Array overflow, check MAXMAPENTRIES";
    case Failure::kRead:
      return "user memory that cannot be read";
    default:
      return outcome.message;
  }
}

Argument argument_of(const state::KeyComponent& component) {
  return {.number = component.number, .text = component.text};
}

}  // namespace

const Printer::Known& Printer::known(uint32_t format) {
  const auto [place, is_new] = formats_.try_emplace(format);
  if (!is_new) return place->second;
  const std::string& text = context_.program.formats[format].text;
  place->second.is_special = text.starts_with(kSpecial);
  if (place->second.is_special) return place->second;
  auto directives = parse_format(text);
  if (directives) place->second.directives = *std::move(directives);
  return place->second;
}

std::string Printer::sprint(uint32_t format, std::span<const Argument> arguments) {
  const Known& f = known(format);
  return f.is_special ? special(context_.program.formats[format].text, arguments)
                      : render(f.directives, arguments);
}

void Printer::emit(uint32_t format, std::span<const Argument> arguments) {
  const std::string& text = context_.program.formats[format].text;
  if (text.size() > 1 && text[0] == kSpecial && text[1] == static_cast<char>(Special::kWarning)) {
    std::string_view warning = arguments[0].text;
    if (warning.ends_with('\n')) warning.remove_suffix(1);
    context_.writer.warn(fmt::format("WARNING: {}", warning));
    return;
  }
  context_.writer.write(sprint(format, arguments));
}

std::string Printer::special(const std::string& format, std::span<const Argument> arguments) const {
  const auto what = static_cast<Special>(format[1]);
  const std::string_view rest = std::string_view(format).substr(2);
  if (what == Special::kHistogram) return histogram(rest, arguments);
  if (what == Special::kBucket) return bucket(rest, arguments);
  const uint64_t probe = arguments[0].number;
  if (what == Special::kProbe) return place_of(probe);
  const size_t wanted = context_.world.probe(probe).wanted;
  if (wanted >= module_.handlers.size()) return "";
  const Handler& handler = module_.handlers[wanted];
  return what == Special::kName ? handler.name : std::string(type_of(handler));
}

const state::Stats& Printer::stats_of(uint32_t map, std::span<const Argument> key) const {
  state::Key wanted;
  const auto& types = context_.maps[map].type().key;
  for (size_t i = 0; i < types.size() && i < key.size(); ++i) {
    if (types[i] == state::ValueType::kText)
      wanted.add(key[i].text);
    else
      wanted.add(key[i].number);
  }
  return context_.maps[map].stats(wanted);
}

std::string Printer::histogram(std::string_view rest, std::span<const Argument> arguments) const {
  const uint32_t map = take_number(rest);
  return draw_histogram(context_.maps[map].type(), stats_of(map, arguments)) + std::string(rest);
}

std::string Printer::bucket(std::string_view rest, std::span<const Argument> arguments) const {
  const uint32_t map = take_number(rest);
  const auto& buckets = stats_of(map, arguments.first(arguments.size() - 1)).buckets;
  const uint64_t which = arguments.back().number;
  return std::to_string(which < buckets.size() ? buckets[which] : 0);
}

std::string point_text(const Handler& handler, const script::CodeName& place) {
  if (place.function.empty()) return handler.location;
  const std::string source = place.file.empty() ? "" : fmt::format("@{}:{}", place.file, place.line);
  const bool is_line = handler.wanted.kind == WantedProbe::Kind::kLine ||
                       handler.wanted.kind == WantedProbe::Kind::kInstruction;
  const char* suffix = handler.wanted.kind == WantedProbe::Kind::kReturn ? ".return" : "";
  if (handler.wanted.kind == WantedProbe::Kind::kMark) return handler.location;
  return fmt::format("process(\"{}\").{}(\"{}{}\"){}", place.module, is_line ? "statement" : "function",
                     place.function, source, suffix);
}

std::string Printer::place_of(uint64_t probe) const {
  const script::FiredProbe fired = context_.world.probe(probe);
  if (fired.wanted >= module_.handlers.size()) return "";
  return point_text(module_.handlers[fired.wanted], fired.place);
}

Printer::Next Printer::told(size_t probe, const script::Outcome& outcome, uint64_t) {
  if (outcome.failure == Failure::kNothing) return Next::kGoOn;
  ++errors_;
  const std::string where = probe < module_.handlers.size() ? describe(module_.handlers[probe].spot) : "";
  context_.writer.warn(fmt::format("ERROR: {} near {}", words_of(outcome), where));
  has_ended_ = errors_ > limits_.errors;
  return has_ended_ ? Next::kEnd : Next::kGoOn;
}

int Printer::exit_code(std::optional<uint64_t> asked) const {
  return errors_ > 0 ? 1 : static_cast<int>(asked.value_or(0));
}

// Globals that are written and never read.
void Printer::end() {
  for (size_t i = 0; !has_ended_ && i < module_.all_globals.size() && i < context_.maps.size(); ++i) {
    const Variable& global = *module_.all_globals[i];
    const bool is_users = global.spot.source != nullptr && !global.spot.source->is_tapset;
    if (is_users && global.is_written && !global.is_read) show_global(global, context_.maps[i]);
  }
  if (errors_ > 0)
    context_.writer.warn(fmt::format("WARNING: Number of errors: {}, skipped probes: 0", errors_));
}

static std::string value_format(const Variable& global) {
  if (global.type == Type::kString) return "=\"%#s\"\n";
  if (global.type == Type::kLong) return "=%d\n";
  return " @count=%#d @min=%#d @max=%#d @sum=%#d @avg=%#d\n";
}

// In the order of their values, the largest first.
void Printer::show_global(const Variable& global, const state::Map& map) {
  std::string format = global.name;
  for (size_t i = 0; i < global.keys.size(); ++i)
    format += std::string(i == 0 ? "[" : ",") + (global.keys[i] == Type::kString ? "\"%#s\"" : "%#d");
  if (!global.keys.empty()) format += "]";
  using By = state::Order::By;
  const state::Order order{.by = global.type == Type::kStats ? By::kStatistic : By::kValue,
                           .is_descending = true};
  if (global.keys.empty() && global.type == Type::kStats && map.stats({}).count == 0) {
    context_.writer.write(fmt::format("{} @count=0x0\n", global.name));
    return;
  }
  const auto directives = parse_format(format + value_format(global));
  const auto show = [&](std::vector<Argument> arguments, uint64_t number, std::string_view text,
                        const state::Stats& stats) {
    if (global.type == Type::kStats) {
      using state::Statistic;
      for (const Statistic what :
           {Statistic::kCount, Statistic::kMin, Statistic::kMax, Statistic::kSum, Statistic::kAverage})
        arguments.push_back({.number = stats.get(map.type(), what).value_or(0)});
    } else {
      arguments.push_back({.number = number, .text = text});
    }
    context_.writer.write(render(*directives, arguments));
  };
  if (global.keys.empty()) return show({}, map.number({}), map.text({}), map.stats({}));
  for (const state::Map::Step& step : map.walk(order, UINT64_MAX)) {
    std::vector<Argument> key;
    for (size_t i = 0; i < global.keys.size(); ++i) key.push_back(argument_of(map.key_of(step, i)));
    show(std::move(key), map.number_of(step), map.text_of(step), map.stats_of(step));
  }
}

}  // namespace blip::stap
