// SPDX-License-Identifier: MIT
#include "bt/script.h"

#include <fmt/core.h>

#include <algorithm>

#include "bt/lower.h"
#include "bt/macros.h"
#include "bt/output.h"
#include "bt/parser.h"
#include "bt/probes.h"

namespace blip::bt {

namespace {

constexpr int kMostPasses = 6;
constexpr uint32_t kTextLimit = script::kMaxText;
constexpr uint64_t kBudget = 20'000'000;
constexpr uint32_t kTextsOfHit = 1600, kLeastText = 16;

class BtScript final : public script::Script {
 public:
  static Result<std::unique_ptr<script::Script>> parse(const script::ScriptText& text, bool& is_parsed) {
    auto made = std::make_unique<BtScript>();
    Declarations& d = made->script_;
    d.name = text.name == "-e" ? "stdin" : text.name;
    d.source = text.text;
    d.parameters = text.arguments;
    d.may_run_commands = text.may_run_commands;
    made->is_json_ = text.json;
    TRY(d.tree, parse_tree(d.source));
    is_parsed = true;
    for (const auto& [definition, range] : d.tree.definitions) TRY_OK(d.types.add(d.source, range));
    TRY(d.config, read_config(d.source, d.tree.config));
    d.longest_text = d.config.max_strlen;
    TRY_OK(made->find_probes());
    TRY_OK(expand_macros(d));
    TRY_OK(made->declare_maps());
    TRY_OK(made->find_types());
    return std::unique_ptr<script::Script>(std::move(made));
  }

  const std::vector<script::WantedProbe>& probes() const override { return probes_; }

  Result<script::Lowered> lower(size_t probe, script::HitSite* site, script::Program& program) override {
    program.text_limit = kTextLimit;
    script_.longest_text = script_.config.max_strlen;
    TRY(script::Lowered lowered, lowered_once(probe, site, program));
    const Texts texts = texts_of(lowered.function);
    if (!site || texts.bytes <= kTextsOfHit || texts.unlimited == 0) return lowered;
    // A hit has no room for all texts at their full length.
    const uint32_t rest = texts.bytes - texts.unlimited * script_.longest_text;
    script_.longest_text =
        std::max(kLeastText, (kTextsOfHit - std::min(rest, kTextsOfHit)) / texts.unlimited);
    const std::string told = fmt::format(
        "{}: texts are cut at {} bytes, so that one hit has room for them; str(x, n) "
        "or max_strlen say it otherwise",
        probe_texts_[probe], script_.longest_text);
    if (std::find(script_.warnings.begin(), script_.warnings.end(), told) == script_.warnings.end())
      script_.warnings.push_back(told);
    return lowered_once(probe, site, program);
  }

  script::RunLimits limits() const override { return {.budget = kBudget}; }

  std::unique_ptr<script::ScriptOutput> output(const script::OutputContext& context) override {
    return std::make_unique<Output>(script_, probes_, probe_texts_, context, is_json_);
  }

  // "uprobe:FILE:FUNCTION", with the word that was used.
  std::string point_at(size_t probe, const script::CodeName& place) const override {
    const std::string& text = probe_texts_[probe];
    return fmt::format("{}:{}:{}", text.substr(0, text.find(':')), place.module, place.function);
  }

  // A script that has nothing to wait for ends, as bpftrace 0.26 does.
  bool ends_after_begin() const override {
    return std::all_of(probes_.begin(), probes_.end(), [](const script::WantedProbe& p) {
      return p.kind == script::WantedProbe::Kind::kBegin || p.kind == script::WantedProbe::Kind::kEnd;
    });
  }

 private:
  struct Texts {
    uint32_t bytes = 0, unlimited = 0;  // of all; how many have the length of the config
  };

  Result<script::Lowered> lowered_once(size_t probe, script::HitSite* site, script::Program& program) {
    Lowerer lowerer(script_, probes_[probe], static_cast<uint32_t>(probe), site, program);
    lowerer.finds_types(false);
    return lowerer.run(*blocks_[probe]);
  }

  Texts texts_of(const script::Function& function) const {
    Texts texts;
    for (const script::Block& b : function.blocks)
      for (const script::Node& n : b.nodes) {
        if (n.op != script::BlockOp::kReadText && n.op != script::BlockOp::kReadBytes) continue;
        texts.bytes += static_cast<uint32_t>(n.value);
        texts.unlimited += n.value == script_.longest_text ? 1 : 0;
      }
    return texts;
  }

  Status find_probes() {
    if (!script_.tree.later.empty())
      return script::error_at(script_.source, script_.tree.later[0].range, script_.tree.later[0].what);
    const auto end = static_cast<uint32_t>(script_.source.size());
    if (script_.tree.probes.empty())
      return script::error_at(script_.source, {end, end + 1}, "a probe is missing: BEGIN { ... }");
    for (const ProbeBlock& block : script_.tree.probes) {
      for (const AttachPoint& point : block.points) {
        AttachPoint filled{.text = with_parameters(point.text), .range = point.range};
        TRY(script::WantedProbe probe, parse_probe(script_.source, filled));
        probe.may_be_missing = script_.config.missing_probes != "error";
        probes_.push_back(std::move(probe));
        probe_texts_.push_back(filled.text);
        blocks_.push_back(&block);
      }
    }
    return {};
  }

  // $1 in "uprobe:$1:main".
  std::string with_parameters(const std::string& text) const {
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
      const bool is_parameter =
          text[i] == '$' && i + 1 < text.size() && text[i + 1] >= '1' && text[i + 1] <= '9';
      if (!is_parameter) {
        result += text[i];
        continue;
      }
      const auto which = static_cast<size_t>(text[++i] - '1');
      if (which < script_.parameters.size()) result += script_.parameters[which];
    }
    return result;
  }

  Status declare_maps() {
    constexpr std::string_view kKinds[] = {"hash", "lruhash", "percpuhash", "percpulruhash", "percpuarray"};
    for (const MapDeclaration& declared : script_.tree.maps) {
      const auto wrong = [&](const std::string& what) {
        return script::error_at(script_.source, declared.range, what);
      };
      if (std::find(std::begin(kKinds), std::end(kKinds), declared.kind) == std::end(kKinds))
        return wrong(fmt::format("there is no kind of map '{}'", declared.kind));
      if (declared.limit == 0 || declared.limit > state::kMaxEntries)
        return wrong(fmt::format("a map has from 1 to {} keys", state::kMaxEntries));
      script_.map(declared.name).limit = static_cast<uint32_t>(declared.limit);
    }
    return {};
  }

  // Lowers all handlers without places until the types of maps stay the same.
  Status find_types() {
    std::string before;
    for (int pass = 0; pass < kMostPasses; ++pass) {
      script::Program scratch{.text_limit = kTextLimit};
      for (size_t i = 0; i < probes_.size(); ++i) {
        Lowerer lowerer(script_, probes_[i], static_cast<uint32_t>(i), nullptr, scratch);
        auto made = lowerer.run(*blocks_[i]);
        if (!made) return made.error();
        probes_[i].uses_stack = lowerer.uses_stack();
      }
      std::string types;
      for (const MapShape& map : script_.shapes.maps)
        types += fmt::format("{}[{}]:{};", map.name, to_string(map.key), to_string(map.value));
      if (types == before) return check_maps();
      before = std::move(types);
    }
    return check_maps();
  }

  Status check_maps() {
    for (const MapShape& map : script_.shapes.maps)
      if (!map.is_used) script_.warnings.push_back("Unused map: " + map.name);
    for (const MapShape& map : script_.shapes.maps)
      if (map.is_used && map.value.is_unknown() && !has_places())
        return script::error_at(script_.source, map.range,
                                fmt::format("nothing is ever put into {}", map.name));
    return {};
  }

  bool has_places() const {
    return std::any_of(probes_.begin(), probes_.end(), [](const auto& p) { return !runs_without_hit(p); });
  }

  Declarations script_;
  std::vector<script::WantedProbe> probes_;
  std::vector<std::string> probe_texts_;
  std::vector<const ProbeBlock*> blocks_;
  bool is_json_ = false;
};

}  // namespace

script::ParsedScript parse_script(const script::ScriptText& text) {
  bool is_parsed = false;
  auto script = BtScript::parse(text, is_parsed);
  return {.script = std::move(script), .reached = is_parsed ? text.text.size() : 0};
}

}  // namespace blip::bt
