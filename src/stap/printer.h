// SPDX-License-Identifier: MIT
// What a script prints while it runs, in SystemTap's words.
#pragma once

#include <map>

#include "script/front/script.h"
#include "stap/format.h"
#include "stap/program_maker.h"

namespace blip::stap {

// A probe at one place, as pp() says it: process("/bin/a").function("f@a.c:3").return
std::string point_text(const Handler& handler, const script::CodeName& place);

class Printer final : public script::ScriptOutput {
 public:
  Printer(const script::OutputContext& context, const Module& module, const Limits& limits)
      : context_(context), module_(module), limits_(limits) {}

  void emit(uint32_t format, std::span<const script::Argument> arguments) override;
  std::string sprint(uint32_t format, std::span<const script::Argument> arguments) override;
  void print(uint32_t, const state::Key*) override {}  // histograms are formats
  Next told(size_t probe, const script::Outcome& outcome, uint64_t clock) override;
  void end() override;
  int exit_code(std::optional<uint64_t> asked) const override;

 private:
  struct Known {
    bool is_special = false;
    std::vector<Directive> directives{};
  };
  const Known& known(uint32_t format);
  std::string special(const std::string& format, std::span<const script::Argument> arguments) const;
  std::string histogram(std::string_view rest, std::span<const script::Argument> arguments) const;
  std::string bucket(std::string_view rest, std::span<const script::Argument> arguments) const;
  const state::Stats& stats_of(uint32_t map, std::span<const script::Argument> key) const;
  std::string place_of(uint64_t probe) const;
  void show_global(const Variable& global, const state::Map& map);

  const script::OutputContext context_;
  const Module& module_;
  const Limits limits_;
  std::map<uint32_t, Known> formats_;
  uint64_t errors_ = 0;
  bool has_ended_ = false;
};

}  // namespace blip::stap
