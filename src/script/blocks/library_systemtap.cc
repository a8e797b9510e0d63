// SPDX-License-Identifier: MIT
// Functions that SystemTap's tapset is made of.
#include <fmt/core.h>
#include <regex.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <random>

#include "script/blocks/library.h"

namespace blip::script {

namespace {

constexpr auto kNumber = state::ValueType::kNumber, kText = state::ValueType::kText;

int64_t as_signed(uint64_t n) { return static_cast<int64_t>(n); }

// --- texts ---

// Where the second text begins in the first one; -1: nowhere.
void position(LibraryCall& call) {
  const size_t at = call.arguments[0].text.find(call.arguments[1].text);
  call.number = at == std::string_view::npos ? UINT64_MAX : at;
}

void byte_at(LibraryCall& call) {
  const std::string_view text = call.arguments[0].text;
  const uint64_t at = call.arguments[1].number;
  call.number = at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

// (text, what, by what): each of them.
void replace(LibraryCall& call) {
  const std::string_view text = call.arguments[0].text, what = call.arguments[1].text,
                         by = call.arguments[2].text;
  size_t from = 0;
  for (size_t at; !what.empty() && (at = text.find(what, from)) != std::string_view::npos;
       from = at + what.size()) {
    call.text += text.substr(from, at - from);
    call.text += by;
  }
  call.text += text.substr(from);
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    constexpr std::string_view kFrom = "\a\b\f\n\r\t\v\"\\", kTo = "abfnrtv\"\\";
    const size_t which = kFrom.find(c);
    if (which != std::string_view::npos)
      result += {'\\', kTo[which]};
    else if (c < ' ' || c == 0x7f)
      result += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result;
}

void escape(LibraryCall& call) { call.text = escaped(call.arguments[0].text); }
void quote(LibraryCall& call) { call.text = '"' + escaped(call.arguments[0].text) + '"'; }

// (text, how many bytes or 0, whether in quotes): these and the dots for what is cut off count.
void escape_some(LibraryCall& call) {
  const std::string_view text = call.arguments[0].text;
  const int64_t wanted = as_signed(call.arguments[1].number);
  const size_t most = wanted > 0 ? static_cast<size_t>(wanted) : text.size();
  const bool is_quoted = call.arguments[2].number != 0;
  const std::string whole = escaped(text);
  if (!is_quoted) {
    call.text = whole.substr(0, most);
    return;
  }
  constexpr size_t kQuotes = 2, kDots = 3;
  if (wanted <= 0 || whole.size() + kQuotes <= most)
    call.text = '"' + whole + '"';
  else
    call.text = '"' + whole.substr(0, most > kQuotes + kDots ? most - kQuotes - kDots : 0) + "\"...";
}

// --- regular expressions ---

// Compiled once; patterns are constants of the script.
const regex_t* compiled(std::string_view pattern) {
  struct Free {
    void operator()(regex_t* r) const {
      regfree(r);
      delete r;
    }
  };
  thread_local std::map<std::string, std::unique_ptr<regex_t, Free>, std::less<>> known;
  const auto found = known.find(pattern);
  if (found != known.end()) return found->second.get();
  auto made = std::make_unique<regex_t>();
  const bool is_valid = regcomp(made.get(), std::string(pattern).c_str(), REG_EXTENDED) == 0;
  auto& place = known[std::string(pattern)];
  if (is_valid) place.reset(made.release());
  return place.get();
}

constexpr size_t kMaxGroups = 16;

struct Match {
  std::string subject;
  regmatch_t groups[kMaxGroups];
  size_t count = 0;  // 0: it does not match
};

Match match(const LibraryCall& call) {
  Match m{.subject = std::string(call.arguments[0].text)};
  const regex_t* regex = compiled(call.arguments[1].text);
  if (regex != nullptr && regexec(regex, m.subject.c_str(), kMaxGroups, m.groups, 0) == 0)
    m.count = std::min(kMaxGroups, regex->re_nsub + 1);
  return m;
}

void regex_matches(LibraryCall& call) { call.number = match(call).count > 0; }
void regex_groups(LibraryCall& call) { call.number = match(call).count; }

// (text, pattern, which group)
void regex_group(LibraryCall& call) {
  const Match m = match(call);
  const uint64_t which = call.arguments[2].number;
  if (which >= m.count || m.groups[which].rm_so < 0) return;
  const regmatch_t& g = m.groups[which];
  call.text = m.subject.substr(static_cast<size_t>(g.rm_so), static_cast<size_t>(g.rm_eo - g.rm_so));
}

// --- addresses ---

// Of (process, address).
CodeName code_at(const LibraryCall& call) {
  if (call.world == nullptr) return {};
  const auto names = call.world->names_of(call.arguments[0].number, call.arguments[1].number);
  return names.empty() ? CodeName() : names.front();
}

void symbol_name(LibraryCall& call) {
  const CodeName code = code_at(call);
  call.text = code.function.empty() ? fmt::format("0x{:x}", call.arguments[1].number) : code.function;
}

void symbol_data(LibraryCall& call) {
  const CodeName code = code_at(call);
  call.text = code.function.empty() ? fmt::format("0x{:x}", call.arguments[1].number)
                                    : fmt::format("{}+0x{:x}", code.function, code.offset);
  if (!code.module.empty()) call.text += fmt::format(" [{}]", code.module);
}

// --- numbers, time ---

void errno_name(LibraryCall& call) {
  const int64_t number = as_signed(call.arguments[0].number);
  const int64_t positive = number < 0 ? -number : number;
  const char* name = positive <= 4095 ? strerrorname_np(static_cast<int>(positive)) : nullptr;
  call.text = name != nullptr && positive != 0 ? name : fmt::format("{}", number);
}

// From 0 to below the number.
void random(LibraryCall& call) {
  thread_local std::mt19937_64 engine{std::random_device()()};
  const uint64_t below = call.arguments[0].number;
  call.number = below == 0 ? 0 : engine() % below;
}

std::string time_text(const tm& time) {
  char text[64];
  return std::string(text, strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &time));
}

void ctime_of(LibraryCall& call) {
  const auto seconds = static_cast<time_t>(call.arguments[0].number);
  tm time;
  call.text = gmtime_r(&seconds, &time) != nullptr ? time_text(time) : "far far in the future";
}

void local_ctime(LibraryCall& call) {
  const auto seconds = static_cast<time_t>(call.arguments[0].number);
  tm time;
  call.text = localtime_r(&seconds, &time) != nullptr ? time_text(time) + " " + time.tm_zone
                                                      : "far far in the future";
}

tm now() {
  const time_t seconds = time(nullptr);
  tm result{};
  localtime_r(&seconds, &result);
  return result;
}

void zone_offset(LibraryCall& call) {
  call.number = 0 - static_cast<uint64_t>(now().tm_gmtoff);
}  // to the west
void zone_name(LibraryCall& call) { call.text = now().tm_zone; }

}  // namespace

std::span<const LibraryFunction> systemtap_functions() {
  static const LibraryFunction kAll[] = {
      {"position", {kText, kText}, kNumber, position},
      {"byte_at", {kText, kNumber}, kNumber, byte_at},
      {"replace", {kText, kText, kText}, kText, replace},
      {"escape", {kText}, kText, escape},
      {"escape_some", {kText, kNumber, kNumber}, kText, escape_some},
      {"quote", {kText}, kText, quote},
      {"regex_matches", {kText, kText}, kNumber, regex_matches},
      {"regex_groups", {kText, kText}, kNumber, regex_groups},
      {"regex_group", {kText, kText, kNumber}, kText, regex_group},
      {"symbol_name", {kNumber, kNumber}, kText, symbol_name},
      {"symbol_data", {kNumber, kNumber}, kText, symbol_data},
      {"errno_name", {kNumber}, kText, errno_name},
      {"random", {kNumber}, kNumber, random},
      {"ctime", {kNumber}, kText, ctime_of},
      {"local_ctime", {kNumber}, kText, local_ctime},
      {"zone_offset", {}, kNumber, zone_offset},
      {"zone_name", {}, kText, zone_name},
  };
  return kAll;
}

}  // namespace blip::script
