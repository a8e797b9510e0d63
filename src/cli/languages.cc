// SPDX-License-Identifier: MIT
#include "cli/languages.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "bt/script.h"
#include "script/front/blocks_language.h"
#include "stap/script.h"

namespace blip::cli {

namespace {

using script::Language;

// In the order in which they are tried for a text without a name.
constexpr Language kLanguages[] = {
    bt::kLanguage,
    {"stap", "SystemTap's language", ".stp", stap::parse_script, "probe ", " {}"},
    {"blocks", "blip's blocks", ".blip", script::parse_blocks},
};

const Language* find_language(const std::string& name) {
  const auto found = std::find_if(std::begin(kLanguages), std::end(kLanguages),
                                  [&](const Language& l) { return l.name == name; });
  return found == std::end(kLanguages) ? nullptr : &*found;
}

const Language* language_of_file(const std::string& name) {
  const auto found = std::find_if(std::begin(kLanguages), std::end(kLanguages),
                                  [&](const Language& l) { return name.ends_with(l.suffix); });
  return found == std::end(kLanguages) ? nullptr : &*found;
}

std::string names() {
  std::string all;
  for (const Language& l : kLanguages) all += fmt::format("{}{}", all.empty() ? "" : ", ", l.name);
  return all;
}

// The error is that of the language that got further.
template <typename TextFor>
Result<std::unique_ptr<script::Script>> parse_by_any(const std::string& name, const TextFor& text_for) {
  std::optional<Error> best;
  size_t reached = 0;
  for (const Language& l : kLanguages) {
    const std::optional<script::ScriptText> text = text_for(l);
    if (!text) continue;
    script::ParsedScript parsed = l.parse(*text);
    if (parsed.script) return std::move(parsed.script);
    if (best && parsed.reached <= reached) continue;
    best =
        parsed.script.error().with_context(fmt::format("{} (as {}; --lang says another)", name, l.full_name));
    reached = parsed.reached;
  }
  return best ? *best : Error(ErrorKind::kUsage, "no language has such probe points");
}

}  // namespace

std::span<const Language> languages() { return kLanguages; }

Result<std::unique_ptr<script::Script>> parse_script(const script::ScriptText& text,
                                                     const std::string& language) {
  const Language* known = find_language(language);
  if (!known && !language.empty())
    return Error(ErrorKind::kUsage, fmt::format("--lang {}: there are {}", language, names()));
  if (!known) known = language_of_file(text.name);
  if (known) {
    auto parsed = known->parse(text).script;
    if (parsed) return parsed;
    return parsed.error().with_context(text.name);
  }
  return parse_by_any(text.name, [&](const Language&) { return std::optional(text); });
}

Result<std::unique_ptr<script::Script>> parse_point(const std::string& point, const std::string& language) {
  const Language* known = find_language(language);
  if (!known && !language.empty())
    return Error(ErrorKind::kUsage, fmt::format("--lang {}: there are {}", language, names()));
  return parse_by_any(point, [&](const Language& l) -> std::optional<script::ScriptText> {
    if (l.behind_point.empty() || (known && known != &l)) return std::nullopt;
    return script::ScriptText{.name = point,
                              .text = fmt::format("{}{}{}", l.before_point, point, l.behind_point)};
  });
}

}  // namespace blip::cli
