// SPDX-License-Identifier: MIT
#include "stap/script.h"

#include <sys/utsname.h>

#include "stap/library.h"
#include "stap/lower.h"
#include "stap/parser.h"
#include "stap/printer.h"

namespace blip::stap {

namespace {

using script::WantedProbe;

class StapScript final : public script::Script {
 public:
  StapScript(std::unique_ptr<Module> module, const Limits& limits)
      : module_(std::move(module)), limits_(limits), maker_(*module_, limits) {
    for (Handler& h : module_->handlers) {
      h.wanted.uses_stack = maker_.uses_stack(h);
      probes_.push_back(h.wanted);
    }
  }

  const std::vector<WantedProbe>& probes() const override { return probes_; }

  Result<script::Lowered> lower(size_t probe, script::HitSite* site, script::Program& program) override {
    TRY_OK(maker_.begin(program));
    return lower_handler(maker_, static_cast<uint32_t>(probe), site);
  }

  script::RunLimits limits() const override {
    script::RunLimits limits;
    constexpr uint64_t kNodesOfAction = 10;
    if (limits_.actions > 0) limits.budget = std::max(limits.budget, limits_.actions * kNodesOfAction);
    constexpr uint32_t kOfTapset = 22;  // its functions call each other
    limits.depth = limits_.nesting + kOfTapset;
    return limits;
  }

  std::unique_ptr<script::ScriptOutput> output(const script::OutputContext& context) override {
    return std::make_unique<Printer>(context, *module_, limits_);
  }

  std::string point_at(size_t probe, const script::CodeName& place) const override {
    return point_text(module_->handlers[probe], place);
  }

 private:
  std::unique_ptr<Module> module_;
  Limits limits_;
  ProgramMaker maker_;
  std::vector<WantedProbe> probes_;
};

Settings settings_of(const script::ScriptText& text) {
  Settings settings{.arguments = text.arguments, .globals = text.globals, .is_guru = text.may_run_commands};
  for (const auto& [name, value] : text.defines) settings.definitions[name] = value;
  utsname system{};
  if (uname(&system) == 0) settings.kernel_release = system.release;
  return settings;
}

// A script without probes.
Result<std::unique_ptr<script::Script>> parse_without_names(const script::ScriptText& text,
                                                            const Settings& settings) {
  auto module = std::make_unique<Module>();
  module->settings = settings;
  module->sources.push_back({.name = text.name, .text = text.text});
  TRY(const Macros macros, add_tapset(*module));
  TRY(const File file, parse(module->sources[0], settings, macros));
  return std::make_unique<StapScript>(std::move(module), Limits());
}

Result<std::unique_ptr<script::Script>> make(const script::ScriptText& text) {
  Settings settings = settings_of(text);
  if (text.parse_only) return parse_without_names(text, settings);
  TRY(const Limits limits, limits_of(settings));
  TRY(auto module, build_module({.name = text.name, .text = text.text}, std::move(settings)));
  return std::make_unique<StapScript>(std::move(module), limits);
}

}  // namespace

// Where an error is, is in its message only: "NAME:LINE:COLUMN: ...".
static size_t reached_by(const script::ScriptText& text, const std::string& message) {
  if (!message.starts_with(text.name + ":")) return 0;
  const char* at = message.c_str() + text.name.size() + 1;
  char* end = nullptr;
  const size_t line = std::strtoul(at, &end, 10);
  const size_t column = *end == ':' ? std::strtoul(end + 1, nullptr, 10) : 1;
  size_t result = 0;
  for (size_t i = 1; i < line && result != std::string::npos; ++i) {
    result = text.text.find('\n', result);
    if (result != std::string::npos) ++result;
  }
  return std::min(result, text.text.size()) + column - 1;
}

script::ParsedScript parse_script(const script::ScriptText& text) {
  auto made = make(text);
  const size_t reached = made ? text.text.size() : reached_by(text, made.error().message());
  return {std::move(made), reached};
}

}  // namespace blip::stap
