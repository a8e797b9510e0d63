// SPDX-License-Identifier: MIT
#include "bt/output.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "bt/bytes.h"

namespace blip::bt {

namespace {

using script::Argument;
using Kind = Shape::Kind;

constexpr uint64_t kLastSignal = 64;

struct Position {
  size_t line = 1, column = 1;
};

Position position(std::string_view source, size_t at) {
  Position p;
  for (size_t i = 0; i < at && i < source.size(); ++i) {
    if (source[i] == '\n') {
      ++p.line;
      p.column = 1;
    } else {
      ++p.column;
    }
  }
  return p;
}

std::string digits(uint64_t n) { return fmt::format("{}", static_cast<int64_t>(n)); }

std::string address_text(std::span<const Argument> a) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  std::array<uint64_t, 2> bytes = {a[1].number, a[2].number};
  const int family = a[0].number == 4 ? AF_INET : AF_INET6;
  return ::inet_ntop(family, bytes.data(), text.data(), text.size()) ? text.data() : "";
}

std::string mac_text(std::span<const Argument> a) {
  std::string text;
  for (unsigned i = 0; i < 6; ++i) {
    const uint64_t byte = i < 4 ? a[0].number >> (i * 8) : a[1].number >> ((i - 4) * 8);
    text += fmt::format("{}{:02X}", i ? ":" : "", byte & UINT8_MAX);
  }
  return text;
}

}  // namespace

Output::Output(const Declarations& script, const std::vector<script::WantedProbe>& probes,
               const std::vector<std::string>& probe_texts, const script::OutputContext& context,
               bool is_json)
    : script_(script),
      probes_(probes),
      probe_texts_(probe_texts),
      context_(context),
      is_json_(is_json),
      form_(is_json ? make_json_form() : make_text_form()),
      shower_{context.world, script.config} {
  for (const std::string& warning : script.warnings) context.writer.warn("WARNING: " + warning);
}

const Shape& Output::shape(uint32_t format) {
  if (format >= shapes_.size()) shapes_.resize(format + 1);
  if (!shapes_[format]) shapes_[format] = &script_.shapes.formats.at(context_.program.formats[format].text);
  return *shapes_[format];
}

std::vector<Shown> Output::shown(const Shape& shape, Arguments arguments) const {
  std::vector<Shown> result;
  size_t at = 0;
  for (const Type& type : shape.arguments) {
    const size_t count = count_leaves(type);
    result.push_back(shower_.value(type, arguments.subspan(at, count)));
    at += count;
  }
  return result;
}

std::string Output::formatted(const Shape& shape, Arguments arguments) const {
  return apply_format(parse_format(shape.text), shown(shape, arguments));
}

const state::Map* Output::map_of(const MapShape& wanted) const {
  for (const state::Map& map : context_.maps)
    if (map.type().name == wanted.name) return &map;
  return nullptr;
}

void Output::emit(uint32_t format, Arguments arguments) {
  const Shape& s = shape(format);
  switch (s.kind) {
    case Kind::kPrintf:
      return write(form_->text("printf", formatted(s, arguments)));
    case Kind::kErrorf:
      return tell(s, "ERROR", formatted(s, arguments));
    case Kind::kWarnf:
      return tell(s, "WARNING", formatted(s, arguments));
    case Kind::kDebugf:
      return context_.writer.write_error(formatted(s, arguments));
    case Kind::kPrint:
      return write(form_->value(shown(s, arguments)[0]));
    case Kind::kPrintMap:
      return print_map(script_.shapes.maps[s.map], arguments[0].number, arguments[1].number, true);
    case Kind::kPrintEntry:
      return print_entry(s, arguments);
    case Kind::kTime:
      return write(form_->text("time", format_time(context_.world.realtime_ns(arguments[0].number), s.text)));
    case Kind::kCat:
      return cat(formatted(s, arguments));
    case Kind::kSystem:
      return run(formatted(s, arguments));
    case Kind::kJoin: {
      std::string text;
      for (size_t i = 0; i < arguments.size() && !arguments[i].text.empty(); ++i)
        text += (i ? s.text : "") + std::string(arguments[i].text);
      return write(form_->text("join", is_json_ ? text : text + '\n'));
    }
    default:
      return;
  }
}

std::string Output::sprint(uint32_t format, Arguments a) {
  const Shape& s = shape(format);
  script::World& world = context_.world;
  switch (s.kind) {
    case Kind::kFormat:
      return formatted(s, a);
    case Kind::kPack:
      return pack(leaves_of(s.arguments[0]), a.data());
    case Kind::kItem:
      return item(s, a);
    case Kind::kShow:
      return to_text(shown(s, a)[0]);
    case Kind::kComm:
      if (s.text == "parent") {
        const uint64_t parent = world.parent(a[0].number);
        return world.thread_name(parent, parent);
      }
      return world.thread_name(a[0].number, a[1].number);
    case Kind::kProbe:
      return name_of_probe(a[0].number);
    case Kind::kProbeType:
      return type_of_probe(a[0].number);
    case Kind::kFunc:
      return world.probe(a[0].number).place.function;
    case Kind::kElapsed:
      if (!first_clock_) first_clock_ = a[0].number;
      return digits(a[0].number - *first_clock_);
    case Kind::kRealtime:
      return digits(world.realtime_ns(a[0].number));
    case Kind::kRandom:
      return digits(random_());
    case Kind::kCpus:
      return digits(static_cast<uint64_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF))));
    case Kind::kParent:
      return digits(world.parent(a[0].number));
    case Kind::kTargetPid:
      return digits(world.target_pid());
    case Kind::kStrstr: {
      const size_t at = a[0].text.find(a[1].text);
      return at == std::string_view::npos ? "-1" : digits(at);
    }
    case Kind::kStrerror:
      return std::strerror(static_cast<int>(a[0].number));
    case Kind::kSignalName:
      return a[0].number > kLastSignal ? "N/A" : ::strsignal(static_cast<int>(a[0].number));
    case Kind::kFrames:
      return digits(std::min<uint64_t>(world.stack(a[0].number).size(), a[1].number));
    case Kind::kNtop:
      return address_text(a);
    case Kind::kMac:
      return mac_text(a);
    case Kind::kSymbol:
      return symbol_name(world, a[0].number, a[1].number, false);
    default:
      return {};
  }
}

std::string Output::item(const Shape& s, Arguments a) const {
  const auto types = leaves_of(s.arguments[0]);
  const auto all = unpack(types, a[0].text);
  const auto which = static_cast<size_t>(std::stoul(s.text));
  if (which >= all.size()) return types[which] == state::ValueType::kText ? "" : "0";
  return types[which] == state::ValueType::kText ? std::string(all[which].text) : digits(all[which].number);
}

// What the script called it; of wildcards, the function that was hit.
std::string Output::name_of_probe(uint64_t number) const {
  const script::FiredProbe fired = context_.world.probe(number);
  if (fired.wanted >= probe_texts_.size()) return {};
  const std::string& text = probe_texts_[fired.wanted];
  const script::WantedProbe& wanted = probes_[fired.wanted];
  if (wanted.name.find_first_of("*?[") == std::string::npos || fired.place.function.empty()) return text;
  return text.substr(0, text.rfind(':') + 1) + fired.place.function;
}

std::string Output::type_of_probe(uint64_t number) const {
  using Wanted = script::WantedProbe::Kind;
  const size_t which = context_.world.probe(number).wanted;
  if (which >= probes_.size()) return {};
  switch (probes_[which].kind) {
    case Wanted::kTimer:
      return "interval";
    case Wanted::kProfile:
      return "profile";
    case Wanted::kReturn:
      return "uretprobe";
    case Wanted::kMark:
      return "usdt";
    case Wanted::kFunction:
    case Wanted::kInstruction:
    case Wanted::kLine:
      return "uprobe";
    default:
      return "special";
  }
}

void Output::print_map(const MapShape& map, uint64_t top, uint64_t divisor, bool shows_unset) {
  if (const state::Map* values = map_of(map))
    write(form_->map(map.name, shower_.map(map, *values, top, divisor, shows_unset)));
}

void Output::print_entry(const Shape& s, Arguments arguments) {
  const MapShape& map = script_.shapes.maps[s.map];
  const size_t keys = map.is_scalar ? 0 : count_leaves(map.key);
  if (const state::Map* values = map_of(map))
    write(form_->map(map.name, shower_.entry(map, *values, arguments.first(keys))));
}

// "stdin:1:9-62: ERROR: text"; behind it where macros were called.
void Output::tell(const Shape& s, std::string_view severity, const std::string& text) {
  const auto place = [&](script::Range range) {
    const Position from = position(script_.source, range.begin), to = position(script_.source, range.end);
    return fmt::format("{}:{}:{}-{}", script_.name, from.line, from.column, to.column);
  };
  if (is_json_) {
    const Position from = position(script_.source, s.range.begin);
    const bool is_error = severity == "ERROR";
    const std::string quoted = form_->value({text});
    // {"type": "value", "data": "..."}: the quoted text is behind the second colon.
    const size_t begin = quoted.find("\"data\": ") + 8;
    return write(fmt::format(R"({{"type": "{}", "msg": {}, "filename": "{}", "line": {}, "col": {}}})"
                             "\n",
                             is_error ? "errorf" : "warnf", quoted.substr(begin, quoted.size() - begin - 2),
                             script_.name, from.line, from.column));
  }
  std::string line = text;
  if (line.ends_with('\n')) line.pop_back();
  context_.writer.write_error(fmt::format("{}: {}: {}", place(s.range), severity, line));
  for (const script::Range& range : s.expanded_from) {
    context_.writer.write_error(fmt::format("{}: {}: expanded from", place(range), severity));
    const Position from = position(script_.source, range.begin);
    const size_t first = range.begin - (from.column - 1), last = script_.source.find('\n', range.begin);
    context_.writer.write_error(script_.source.substr(first, last - first));
    context_.writer.write_error(std::string(from.column - 1, ' ') +
                                std::string(range.end - range.begin, '~'));
  }
}

void Output::cat(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (!file) {
    context_.writer.write_error(
        fmt::format("ERROR: failed to open file '{}' ({})", path, std::strerror(errno)));
    return;
  }
  std::string text(script_.config.max_cat_bytes, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  write(form_->text("cat", text));
}

void Output::run(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "re");
  if (!pipe) {
    context_.writer.warn(fmt::format("ERROR: cannot run '{}' ({})", command, std::strerror(errno)));
    return;
  }
  std::array<char, 4096> part{};
  std::string text;
  for (size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;) text.append(part.data(), n);
  ::pclose(pipe);
  if (!text.empty()) write(form_->text("syscall", text));
}

void Output::print(uint32_t map, const state::Key*) {
  for (const MapShape& shape : script_.shapes.maps)
    if (map < context_.maps.size() && shape.name == context_.maps[map].type().name)
      print_map(shape, 0, 1, true);
}

script::ScriptOutput::Next Output::told(size_t probe, const script::Outcome& outcome, uint64_t) {
  defaults_ += outcome.defaults;
  if (outcome.failure != script::Failure::kNothing && probe < probe_texts_.size())
    ++failures_[probe_texts_[probe] + ": " + outcome.message];
  return Next::kGoOn;
}

// All maps, in the order of their names.
void Output::end() {
  if (!is_json_) write("\n\n");
  if (script_.config.print_maps_on_exit) {
    std::vector<const MapShape*> sorted;
    for (const MapShape& map : script_.shapes.maps)
      if (map.is_used) sorted.push_back(&map);
    std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
    for (const MapShape* map : sorted) print_map(*map, 0, 1, false);
  }
  for (const state::Map& map : context_.maps)
    if (map.dropped() != 0)
      context_.writer.warn(fmt::format(
          "WARNING: Map full; can't update element of {0}: {1} updates were dropped. It has room for {2} "
          "keys: try max_map_keys, or let {0} = hash({3});",
          map.type().name, map.dropped(), map.type().limit, map.type().limit * 2));
  for (const auto& [what, count] : failures_)
    context_.writer.warn(fmt::format("WARNING: {} ({} times)", what, count));
  if (defaults_ != 0)
    context_.writer.warn(
        fmt::format("WARNING: {} values could not be read or computed, and were 0, \"\" or 1", defaults_));
}

}  // namespace blip::bt
