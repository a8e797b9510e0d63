// SPDX-License-Identifier: MIT
// What handlers of a script hand over while it runs: printed, done, or made into a text.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bt/declarations.h"
#include "bt/format_string.h"
#include "bt/show.h"
#include "bt/writer.h"
#include "script/front/script.h"

namespace blip::bt {

class Output final : public script::ScriptOutput {
 public:
  // `script` and `probes` outlive it.
  Output(const Declarations& script, const std::vector<script::WantedProbe>& probes,
         const std::vector<std::string>& probe_texts, const script::OutputContext& context, bool is_json);

  void emit(uint32_t format, std::span<const script::Argument> arguments) override;
  std::string sprint(uint32_t format, std::span<const script::Argument> arguments) override;
  void print(uint32_t map, const state::Key* key) override;
  Next told(size_t probe, const script::Outcome& outcome, uint64_t clock) override;
  void end() override;

 private:
  using Arguments = std::span<const script::Argument>;
  const Shape& shape(uint32_t format);
  std::vector<Shown> shown(const Shape& shape, Arguments arguments) const;
  std::string formatted(const Shape& shape, Arguments arguments) const;
  void print_map(const MapShape& map, uint64_t top, uint64_t divisor, bool shows_unset);
  void print_entry(const Shape& shape, Arguments arguments);
  void tell(const Shape& shape, std::string_view severity, const std::string& text);
  void cat(const std::string& path);
  void run(const std::string& command);
  std::string item(const Shape& shape, Arguments arguments) const;
  std::string name_of_probe(uint64_t number) const;
  std::string type_of_probe(uint64_t number) const;
  const state::Map* map_of(const MapShape& shape) const;
  void write(const std::string& text) { context_.writer.write(text); }

  const Declarations& script_;
  const std::vector<script::WantedProbe>& probes_;
  const std::vector<std::string>& probe_texts_;
  const script::OutputContext context_;
  bool is_json_;
  std::unique_ptr<OutputForm> form_;
  Shower shower_;
  std::vector<const Shape*> shapes_;  // by number of the format
  std::map<std::string, uint64_t> failures_;
  uint64_t defaults_ = 0;
  std::optional<uint64_t> first_clock_;
  std::mt19937 random_{std::random_device()()};
};

}  // namespace blip::bt
