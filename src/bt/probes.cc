// SPDX-License-Identifier: MIT
#include "bt/probes.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "bt/scanner.h"
#include "bt/signals.h"

namespace blip::bt {

namespace {

using Kind = script::WantedProbe::Kind;
using Parts = std::vector<std::string>;
using Probe = script::WantedProbe;

// Parts between colons; a ':' in quotes is none, and the quotes go.
Parts split(std::string_view text) {
  Parts parts(1);
  bool is_quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      is_quoted = !is_quoted;
    } else if (text[i] == '\\' && is_quoted && i + 1 < text.size()) {
      parts.back() += text[++i];
    } else if (text[i] == ':' && !is_quoted) {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  return parts;
}

bool goes_on_as_number(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Without a unit.
std::optional<uint64_t> number(std::string_view text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  Scanner scan(text);
  const auto n = scan.number();
  return n && scan.at_end() && goes_on_as_number(text.back()) ? std::optional(*n) : std::nullopt;
}

constexpr std::array<std::pair<std::string_view, uint64_t>, 7> kUnits{{{"ns", 1},
                                                                       {"us", 1000},
                                                                       {"ms", 1'000'000},
                                                                       {"s", 1'000'000'000},
                                                                       {"m", 60'000'000'000},
                                                                       {"h", 3'600'000'000'000},
                                                                       {"d", 86'400'000'000'000}}};

// interval:s:1, interval:1s, interval:1000000 (us).
std::optional<uint64_t> period(const Parts& parts, bool may_be_rate) {
  if (parts.size() == 2) {
    const size_t digits = std::min(parts[1].find_first_not_of("0123456789"), parts[1].size());
    const auto n = number(std::string_view(parts[1]).substr(0, digits));
    for (const auto& [unit, ns] : kUnits)
      if (n && std::string_view(parts[1]).substr(digits) == unit) return *n * ns;
    return std::nullopt;
  }
  const auto n = parts.size() == 3 ? number(parts[2]) : std::nullopt;
  if (!n || *n == 0) return std::nullopt;
  if (parts[1] == "hz" && may_be_rate) return 1'000'000'000 / *n;
  for (const auto& [unit, ns] : kUnits)
    if (parts[1] == unit) return *n * ns;
  return std::nullopt;
}

// Each reads the parts of its kind; null: they are right, else what they should be.
using Read = const char* (*)(const Parts& parts, Probe& probe);

const char* read_nothing(const Parts& parts, Probe&) {
  return parts.size() == 1 ? nullptr : "it stands alone: BEGIN { ... }";
}

const char* read_self(const Parts& parts, Probe& probe) {
  const auto n = parts.size() == 3 && parts[1] == "signal" ? find_signal(parts[2]) : std::nullopt;
  if (!n) return "it is self:signal:SIGUSR1";
  probe.number = *n;
  return nullptr;
}

const char* read_interval(const Parts& parts, Probe& probe) {
  const auto ns = period(parts, true);
  if (!ns || *ns == 0) return "it is interval:s:1, with hz, s, ms or us, or interval:1s";
  probe.period = std::chrono::nanoseconds(*ns);
  return nullptr;
}

const char* read_profile(const Parts& parts, Probe& probe) {
  const auto ns = period(parts, true);
  if (!ns || *ns == 0) return "it is profile:hz:99, with hz, s, ms or us";
  probe.period = std::chrono::nanoseconds(*ns);
  return nullptr;
}

// FUNCTION, FUNCTION+OFFSET, an address of the file.
const char* read_place(std::string place, Probe& probe) {
  if (const auto address = number(place)) {
    if (probe.module.find('*') != std::string::npos) return "an address is one of a single file";
    probe.kind = Kind::kInstruction;
    probe.offset = *address;
    return nullptr;
  }
  const size_t plus = place.rfind('+');
  if (plus != std::string::npos) {
    const auto offset = number(std::string_view(place).substr(plus + 1));
    if (!offset) return "the number of bytes behind the + is missing";
    if (probe.kind == Kind::kReturn) return "a return has no offset";
    probe.kind = Kind::kInstruction;
    probe.offset = *offset;
    place.resize(plus);
  }
  const size_t at = place.find('@');
  const size_t colon = place.rfind(':');
  if (at != std::string::npos && colon != std::string::npos && colon > at) {
    const auto line = number(std::string_view(place).substr(colon + 1));
    if (!line) return "the line is missing: FILE.c:120";
    probe.kind = Kind::kLine;
    probe.file = place.substr(at + 1, colon - at - 1);
    probe.line = static_cast<uint32_t>(*line);
    place.resize(at);
  }
  probe.name = std::move(place);
  return probe.name.empty() && probe.kind != Kind::kLine ? "the function is missing" : nullptr;
}

const char* read_function(const Parts& parts, Probe& probe) {
  constexpr const char* kForm =
      "it is uprobe:FILE:FUNCTION, uprobe:FILE:FUNCTION+OFFSET or uprobe:FILE:ADDRESS";
  // uprobe:FILE@SOURCE:LINE
  if (parts.size() == 3 && parts[1].find('@') != std::string::npos) {
    const size_t at = parts[1].find('@');
    const auto line = number(parts[2]);
    if (!line || probe.kind == Kind::kReturn) return kForm;
    probe.module = parts[1].substr(0, at);
    probe.kind = Kind::kLine;
    probe.file = parts[1].substr(at + 1);
    probe.line = static_cast<uint32_t>(*line);
    return nullptr;
  }
  const bool has_language = parts.size() == 4 && (parts[2] == "cpp" || parts[2] == "rust" || parts[2] == "c");
  if (parts.size() != 3 && !has_language) return kForm;
  if (parts.size() == 2) return kForm;
  probe.module = parts[1];
  return read_place(parts.back(), probe);
}

const char* read_mark(const Parts& parts, Probe& probe) {
  if (parts.size() != 3 && parts.size() != 4) return "it is usdt:FILE:PROVIDER:NAME or usdt:FILE:NAME";
  probe.module = parts[1];
  const std::string provider = parts.size() == 4 && !parts[2].empty() ? parts[2] : "*";
  probe.name = provider + ':' + parts.back();
  return parts.back().empty() ? "the name of the mark is missing" : nullptr;
}

struct Row {
  std::string_view name;
  std::string_view short_name;
  Kind kind;
  Read read;
};
constexpr std::array<Row, 8> kRows{{{"begin", "BEGIN", Kind::kBegin, read_nothing},
                                    {"end", "END", Kind::kEnd, read_nothing},
                                    {"self", "self", Kind::kSignal, read_self},
                                    {"interval", "i", Kind::kTimer, read_interval},
                                    {"profile", "p", Kind::kProfile, read_profile},
                                    {"uprobe", "u", Kind::kFunction, read_function},
                                    {"uretprobe", "ur", Kind::kReturn, read_function},
                                    {"usdt", "U", Kind::kMark, read_mark}}};

constexpr std::array<std::string_view, 28> kOfKernel = {
    "kprobe",        "k",     "kretprobe",  "kr",   "tracepoint",      "t",
    "rawtracepoint", "rt",    "kfunc",      "f",    "kretfunc",        "fr",
    "fentry",        "fexit", "iter",       "it",   "hardware",        "h",
    "software",      "s",     "watchpoint", "w",    "asyncwatchpoint", "aw",
    "kprobe.multi",  "lsm",   "fmod",       "rawtp"};
// What is wrong with a kernel probe beyond being one; null: nothing.
const char* wrong_with_kernel_probe(const Parts& parts) {
  const std::string& kind = parts[0];
  const auto is = [&](std::string_view name, std::string_view short_name) {
    return kind == name || kind == short_name;
  };
  const bool has_empty = std::any_of(parts.begin() + 1, parts.end(), [](const auto& p) { return p.empty(); });
  if (is("tracepoint", "t")) return parts.size() == 3 ? nullptr : "it is tracepoint:GROUP:NAME";
  if (is("rawtracepoint", "rt")) return parts.size() >= 2 ? nullptr : "it is rawtracepoint:NAME";
  if (is("software", "s") || is("hardware", "h"))
    return parts.size() < 3 || parts[2].empty() || number(parts[2]) ? nullptr
                                                                    : "the number of events is missing";
  if (is("watchpoint", "w") || is("asyncwatchpoint", "aw")) {
    const bool is_right =
        parts.size() >= 4 && number(parts[parts.size() - 2]) &&
        (parts.size() > 4 || number(parts[1]) || !goes_on_as_number(parts[1].empty() ? 'x' : parts[1][0]));
    return is_right ? nullptr : "it is watchpoint:ADDRESS:LENGTH:MODE";
  }
  if (is("kretprobe", "kr") && parts.back().find('+') != std::string::npos) return "a return has no offset";
  if (is("kprobe", "k") || is("kretprobe", "kr"))
    return parts.size() >= 2 && parts.size() <= 3 && !has_empty ? nullptr : "it is kprobe:FUNCTION";
  return nullptr;
}

constexpr size_t kMostDigits = 9;
constexpr std::array<std::string_view, 2> kLater = {"bench", "test"};

}  // namespace

Result<Probe> parse_probe(std::string_view source, const AttachPoint& point) {
  const Parts parts = split(point.text);
  const std::string& kind = parts[0];
  const auto wrong = [&](std::string_view message) { return script::error_at(source, point.range, message); };
  for (size_t dollar = point.text.find('$'); dollar != std::string::npos;
       dollar = point.text.find('$', dollar + 1)) {
    size_t end = dollar + 1;
    while (end < point.text.size() && point.text[end] >= '0' && point.text[end] <= '9') ++end;
    const size_t digits = end - dollar - 1;
    if (digits == 0 || digits > kMostDigits || point.text[dollar + 1] == '0')
      return wrong("a parameter is $1, $2, ...");
  }
  const bool is_kernel = std::find(kOfKernel.begin(), kOfKernel.end(), kind) != kOfKernel.end();
  if (is_kernel)
    if (const char* what = wrong_with_kernel_probe(parts)) return wrong(what);
  if (is_kernel || (kind.size() > 1 && kind.find('*') != std::string::npos))
    return wrong("a kernel probe: blip sees user space only; bpftrace as root can");
  if (std::find(kLater.begin(), kLater.end(), kind) != kLater.end())
    return wrong("this kind of probe is not there yet");
  const auto* row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) {
    return !r.name.empty() && (r.name == kind || r.short_name == kind);
  });
  if (row == kRows.end())
    return wrong(
        fmt::format("there is no probe '{}': there are BEGIN, END, uprobe, uretprobe, usdt, interval, "
                    "profile, self",
                    kind));
  Probe probe{.kind = row->kind, .range = point.range};
  if (const char* what = row->read(parts, probe)) return wrong(what);
  return probe;
}

bool runs_without_hit(const Probe& probe) {
  switch (probe.kind) {
    case Kind::kBegin:
    case Kind::kEnd:
    case Kind::kTimer:
    case Kind::kSignal:
      return true;
    default:
      return false;
  }
}

}  // namespace blip::bt
