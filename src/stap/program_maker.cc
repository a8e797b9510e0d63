// SPDX-License-Identifier: MIT
#include "stap/program_maker.h"

#include <fmt/core.h>

#include <algorithm>

#include "stap/builtins.h"
#include "stap/lower.h"
#include "stap/parser.h"
#include "stap/walk.h"

namespace blip::stap {

namespace {

using Kind = Expression::Kind;
using state::Histogram;
using state::ValueType;

bool reads_target(const Expression& e) {
  switch (e.kind) {
    case Kind::kTarget:
    case Kind::kCast:
    case Kind::kVar:
    case Kind::kAutocast:
    case Kind::kRegister:
    case Kind::kDeref:
      return true;
    default:
      return false;
  }
}

Result<uint64_t> number_of(const Settings& settings, const std::string& name, uint64_t otherwise,
                           uint64_t least, uint64_t most) {
  const auto found = settings.definitions.find(name);
  if (found == settings.definitions.end()) return otherwise;
  const auto number = parse_number(found->second);
  if (!number || *number < least || *number > most)
    return Error(ErrorKind::kUsage, fmt::format("-D {}={}: a number from {} to {} is expected", name,
                                                found->second, least, most));
  return *number;
}

}  // namespace

Result<Limits> limits_of(const Settings& settings) {
  Limits limits;
  TRY(const uint64_t text, number_of(settings, "MAXSTRINGLEN", limits.text + 1, 2, script::kMaxText));
  TRY(const uint64_t entries, number_of(settings, "MAXMAPENTRIES", limits.entries, 1, state::kMaxEntries));
  TRY(const uint64_t nesting, number_of(settings, "MAXNESTING", limits.nesting, 1, 10000));
  TRY(limits.actions, number_of(settings, "MAXACTION", 0, 1, 1'000'000'000));
  TRY(limits.errors, number_of(settings, "MAXERRORS", 0, 0, UINT32_MAX));
  limits.text = static_cast<uint32_t>(text - 1);
  limits.entries = static_cast<uint32_t>(entries);
  limits.nesting = static_cast<uint32_t>(nesting);
  return limits;
}

ValueType value_type(Type type) {
  switch (type) {
    case Type::kString:
      return ValueType::kText;
    case Type::kStats:
      return ValueType::kStats;
    default:
      return ValueType::kNumber;
  }
}

Status ProgramMaker::begin(script::Program& program) {
  if (program_ == &program && !program.maps.empty()) return {};
  if (program_ == &program && module_.all_globals.empty()) return {};
  program_ = &program;
  program.text_limit = limits_.text;
  maps_.clear();
  functions_.clear();
  for (Variable* global : module_.all_globals) TRY_OK(add_map(*global));
  return {};
}

Status ProgramMaker::add_map(Variable& global) {
  state::MapType map{.name = global.name, .value = value_type(global.type)};
  for (const Type key : global.keys) map.key.push_back(value_type(key));
  if (!map.key.empty()) {
    map.limit = global.size ? static_cast<uint32_t>(std::min<int64_t>(*global.size, state::kMaxEntries))
                            : limits_.entries;
    if (global.size && *global.size > state::kMaxEntries)
      return error_at(global.spot, fmt::format("an array has at most {} elements here", state::kMaxEntries));
    map.when_full = global.wraps ? state::WhenFull::kReplaceOldest : state::WhenFull::kFail;
  }
  TRY(map.histogram, histogram_of(global));
  find_variance(global, map);
  maps_[&global] = static_cast<uint32_t>(program_->maps.size());
  program_->maps.push_back(std::move(map));
  return {};
}

// Of handlers, and of functions that they call.
void ProgramMaker::for_each_body(const std::function<void(Statement&)>& visit) {
  for (Handler& h : module_.handlers)
    for (const StatementPtr& body : h.bodies) visit(*body);
  for (File& file : module_.files)
    for (const auto& f : file.functions)
      if (f->is_reached) visit(*f->body);
}

// The one that is asked for.
Result<Histogram> ProgramMaker::histogram_of(const Variable& global) {
  Histogram result;
  Error error(ErrorKind::kUsage, "");
  bool is_wrong = false;
  const auto look = [&](Expression& e) {
    if (e.kind != Kind::kHistogram || e.operands[0]->variable != &global) return;
    Histogram h{.kind = Histogram::Kind::kHistLog};
    if (e.text == "@hist_linear")
      h = {.kind = Histogram::Kind::kHistLinear,
           .low = e.numbers[0],
           .high = e.numbers[1],
           .step = e.numbers[2]};
    const uint64_t range = static_cast<uint64_t>(h.high) - static_cast<uint64_t>(h.low);
    if (range / static_cast<uint64_t>(h.step) > state::kMaxLinear) {
      error = error_at(e.spot, fmt::format("a histogram has at most {} buckets", state::kMaxLinear));
      is_wrong = true;
    }
    if (result.kind != Histogram::Kind::kNone && !(result == h)) {
      error = error_at(e.spot, fmt::format("{} has another histogram elsewhere", global.name));
      is_wrong = true;
    }
    result = h;
  };
  for_each_body([&](Statement& body) { for_all_expressions(body, look); });
  if (is_wrong) return error;
  return result;
}

void ProgramMaker::find_variance(const Variable& global, state::MapType& map) {
  const auto look = [&](Expression& e) {
    if (e.text != "@variance" || e.kind != Kind::kStatistic || e.operands[0]->variable != &global) return;
    map.has_variance = true;
    constexpr int64_t kMostShift = 62;
    if (!e.numbers.empty())
      map.variance_shift = static_cast<uint8_t>(std::clamp<int64_t>(e.numbers[0], 0, kMostShift));
  };
  const auto look_at_loop = [&](Statement& s) {
    if (s.foreach != nullptr && s.foreach->variable == &global && s.foreach->statistic == "@variance")
      map.has_variance = true;
  };
  for_each_body([&](Statement& body) {
    for_all_expressions(body, look);
    for_each_statement(body, look_at_loop);
  });
}

// Recursive functions call each other by their numbers, which are there before they are made.
Result<uint32_t> ProgramMaker::function(const std::vector<Function*>& overloads, size_t which) {
  Function& f = *overloads[which];
  const auto [place, is_new] =
      functions_.try_emplace({&f, which}, static_cast<uint32_t>(program_->functions.size()));
  const uint32_t number = place->second;
  if (!is_new) return number;
  script::Function declared{.name = fmt::format("{}.{}", f.name, number),
                            .parameters = static_cast<uint32_t>(f.parameters.size())};
  for (const auto& parameter : f.parameters) declared.locals.push_back(value_type(parameter->type));
  declared.result = f.type == Type::kUnknown ? ValueType::kNone : value_type(f.type);
  declared.blocks.emplace_back();
  program_->functions.push_back(declared);
  TRY(script::Function made, lower_function(*this, overloads, which, declared.name));
  program_->functions[number] = std::move(made);
  return number;
}

template <typename Test>
bool ProgramMaker::any_call(Expression& e, const Test& test, std::set<const Function*>& seen) {
  bool result = false;
  for_all_expressions(e, [&](Expression& one) {
    result = result || test(one);
    for (Function* f : one.functions) {
      if (result || f->body == nullptr || !seen.insert(f).second) continue;
      for_each_statement(*f->body, [&](Statement& s) {
        for_each_expression(s, [&](Expression& inner) { result = result || any_call(inner, test, seen); });
      });
    }
  });
  return result;
}

bool ProgramMaker::needs_hit(Expression& e) {
  std::set<const Function*> seen;
  return any_call(
      e,
      [](const Expression& one) {
        for (const Function* f : one.functions)
          if (f->builtin != nullptr && f->builtin->needs_hit) return true;
        return reads_target(one);
      },
      seen);
}

bool ProgramMaker::needs_hit(Function& f) {
  const auto known = needs_hit_.find(&f);
  if (known != needs_hit_.end()) return known->second;
  needs_hit_[&f] = false;
  bool result = false;
  for_each_statement(*f.body, [&](Statement& s) {
    for_each_expression(s, [&](Expression& e) { result = result || needs_hit(e); });
  });
  return needs_hit_[&f] = result;
}

bool ProgramMaker::uses_stack(Handler& h) {
  std::set<const Function*> seen;
  bool result = false;
  const auto is_stack = [](const Expression& e) { return e.kind == Kind::kCall && e.text == "__stack"; };
  for (const StatementPtr& body : h.bodies)
    for_each_statement(*body, [&](Statement& s) {
      for_each_expression(s, [&](Expression& e) { result = result || any_call(e, is_stack, seen); });
    });
  return result;
}

}  // namespace blip::stap
