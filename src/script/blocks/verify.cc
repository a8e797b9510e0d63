// SPDX-License-Identifier: MIT
#include "script/blocks/verify.h"

#include <fmt/core.h>

#include <algorithm>

#include "script/blocks/verify_block.h"

namespace blip::script {

namespace {

Error wrong(std::string_view what) { return Error(ErrorKind::kInvalid, "program: " + std::string(what)); }

bool is_plain(ValueType type) { return type == ValueType::kNumber || type == ValueType::kText; }

bool are_plain(const std::vector<ValueType>& types) {
  return std::all_of(types.begin(), types.end(), is_plain);
}

bool is_table(const Table& table) {
  const auto is_not_less = [](const auto& a, const auto& b) { return a.first >= b.first; };
  return !table.empty() && table.size() <= kMaxRows &&
         std::adjacent_find(table.begin(), table.end(), is_not_less) == table.end();
}

const char* wrong_with(const state::Histogram& h) {
  using Kind = state::Histogram::Kind;
  if (h.kind > Kind::kHistLinear) return "no such histogram";
  if (h.kind == Kind::kHist && h.bits > state::kMaxHistogramBits) return "its histogram has too many buckets";
  if (h.kind != Kind::kLhist && h.kind != Kind::kHistLinear) return nullptr;
  if (h.step <= 0 || h.low > h.high) return "its histogram has no buckets";
  const uint64_t range = static_cast<uint64_t>(h.high) - static_cast<uint64_t>(h.low);
  return range / static_cast<uint64_t>(h.step) <= state::kMaxLinear ? nullptr
                                                                    : "its histogram has too many buckets";
}

const char* wrong_with(const state::MapType& map) {
  if (map.key.size() > state::kMaxKey || !are_plain(map.key)) return "its key is not valid";
  if (!is_plain(map.value) && map.value != ValueType::kStats) return "its values have no type";
  if (map.histogram.kind != state::Histogram::Kind::kNone && map.value != ValueType::kStats)
    return "it has a histogram without stats";
  if (map.has_variance && map.value != ValueType::kStats) return "it has a variance without stats";
  if (map.variance_shift > 62) return "the shift of its variance is not valid";
  if (map.limit == 0 || map.limit > state::kMaxEntries) return "its limit is not valid";
  if (map.when_full > state::WhenFull::kReplaceOldest) return "no such rule for a full map";
  if (map.kind > state::MapKind::kOwn) return "no such kind of map";
  return wrong_with(map.histogram);
}

// The text form writes it as it is.
bool is_name(std::string_view name) {
  const auto is_of_word = [](char c) {
    return c == '_' || c == '.' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), is_of_word);
}

// All but the blocks.
const char* wrong_with(const Program& program, const Function& f) {
  if (!is_name(f.name)) return "its name is no word";
  if (f.place > Function::Place::kHit) return "no such place";
  if (f.blocks.empty() || f.blocks.size() > kMaxBlocks) return "it has no block, or too many";
  if (f.locals.size() > kMaxLocals || !are_plain(f.locals))
    return "its locals are too many, or without a type";
  if (f.captured.size() > kMaxCaptured || !are_plain(f.captured))
    return "its captured values are too many, or without a type";
  if (f.parameters > std::min(f.locals.size(), kMaxArguments))
    return "its parameters are no locals, or too many";
  if (f.result != ValueType::kNone && !is_plain(f.result)) return "its result has no type";
  if (f.probe != kNone && (f.parameters != 0 || f.result != ValueType::kNone))
    return "it is a handler with parameters or a result";
  if (f.probe == kNone && !f.captured.empty()) return "it is no handler and has captured values";
  if (f.walks.size() > kMaxWalks) return "its walks are too many";
  for (const uint32_t map : f.walks)
    if (map >= program.maps.size() || program.maps[map].key.empty())
      return "it walks what is no map with keys";
  size_t nodes = 0;
  for (const Block& b : f.blocks) nodes += b.nodes.size();
  return nodes <= kMaxFunctionNodes ? nullptr : "it has too many nodes";
}

const char* wrong_with_jumps(const Function& f, uint32_t at) {
  const Block& b = f.blocks[at];
  if (b.on_failure != kNone && (b.on_failure <= at || b.on_failure >= f.blocks.size()))
    return "on a failure it goes to no later block";
  const uint64_t least = budget_of_loop(f, at);
  if (least == 0) return nullptr;
  const bool has_budget = !b.nodes.empty() && b.nodes[0].op == BlockOp::kBudget && b.nodes[0].value >= least;
  return has_budget ? nullptr : "a loop begins without a budget for its nodes";
}

Status verify_blocks(const Program& program, const Function& f) {
  for (uint32_t i = 0; i < f.blocks.size(); ++i) {
    const std::string where = fmt::format("block {}", i);
    TRY_OK(BlockVerifier(program, f, f.blocks[i]).verify().with_context(where));
    if (const char* what = wrong_with_jumps(f, i)) return Error(ErrorKind::kInvalid, where + ": " + what);
  }
  return {};
}

Status verify_declarations(const Program& program) {
  if (program.text_limit == 0 || program.text_limit > kMaxText) return wrong("its texts have no valid limit");
  for (const std::string& text : program.texts)
    if (text.size() > program.text_limit) return wrong("a text is longer than its limit");
  if (!std::all_of(program.tables.begin(), program.tables.end(), is_table))
    return wrong("a table is empty, too large or not sorted");
  if (program.maps.size() > kMaxMaps) return wrong("too many maps");
  for (size_t i = 0; i < program.maps.size(); ++i)
    if (const char* what = wrong_with(program.maps[i])) return wrong(fmt::format("map {}: {}", i, what));
  if (program.formats.size() > kMaxFormats) return wrong("too many formats");
  for (size_t i = 0; i < program.formats.size(); ++i) {
    const auto& arguments = program.formats[i].arguments;
    if (arguments.size() > kMaxArguments || !are_plain(arguments))
      return wrong(fmt::format("format {}: its arguments are too many, or without a type", i));
  }
  return {};
}

}  // namespace

// The loops that begin at a block go, in the order of blocks, up to the last one that jumps back to it.
uint64_t budget_of_loop(const Function& function, uint32_t block) {
  uint64_t least = 0, nodes = 0;
  for (uint32_t i = block; i < function.blocks.size(); ++i) {
    const auto& targets = function.blocks[i].end.targets;
    nodes += function.blocks[i].nodes.size();
    if (std::count(targets.begin(), targets.end(), block) > 0) least = nodes + 1;
  }
  return least;
}

std::vector<ValueType> types_of(const Program& program, const Function& function, const Block& block) {
  std::vector<ValueType> types;
  types.reserve(block.nodes.size());
  for (const Node& n : block.nodes) types.push_back(type_of(program, function, types, n));
  return types;
}

Status verify(const Program& program) { return verify(program, 0); }

Status verify(const Program& program, size_t first) {
  TRY_OK(verify_declarations(program));
  if (program.functions.size() > kMaxFunctions) return wrong("too many functions");
  const auto name = [&](size_t i) {
    return fmt::format("program: function {} ({})", i, program.functions[i].name);
  };
  // A call looks at the declaration of what it calls, wherever that is.
  for (size_t i = first; i < program.functions.size(); ++i)
    if (const char* what = wrong_with(program, program.functions[i]))
      return Error(ErrorKind::kInvalid, what).with_context(name(i));
  for (size_t i = first; i < program.functions.size(); ++i)
    TRY_OK(verify_blocks(program, program.functions[i]).with_context(name(i)));
  return {};
}

}  // namespace blip::script
