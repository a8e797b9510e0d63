// SPDX-License-Identifier: MIT
// probe NAME = POINTS { before }, { behind }: a probe at NAME is one at each of the points, its body between those of the alias.
#include <fnmatch.h>

#include <algorithm>

#include "stap/module.h"
#include "stap/points.h"
#include "stap/tree_text.h"

namespace blip::stap {

namespace {

constexpr size_t kMaxAliases = 100;  // one in the other
constexpr size_t kMaxHandlers = 1 << 12;

bool has_wildcard(const std::string& text) { return text.find('*') != std::string::npos; }

class Expander {
 public:
  explicit Expander(Module& module) : module_(module) {
    for (const File& file : module.files)
      for (const Alias& alias : file.aliases) aliases_.push_back(&alias);
  }

  Status run() {
    for (const Probe& probe : module_.files[0].probes) {
      std::optional<uint32_t> instead_of;
      for (const ProbePoint& point : probe.points) {
        const auto first = static_cast<uint32_t>(module_.handlers.size());
        TRY_OK(expand(probe, point));
        // p!, q: what follows is only tried if p is nowhere.
        for (size_t i = first; instead_of && i < module_.handlers.size(); ++i)
          module_.handlers[i].wanted.instead_of = instead_of;
        if (!point.is_sufficient || module_.handlers.size() == first) continue;
        instead_of = first;
        if (module_.handlers[first].wanted.kind < script::WantedProbe::Kind::kFunction) break;
      }
    }
    sort();
    add_initial();
    return {};
  }

 private:
  struct Around {
    const Alias* alias;
    const Around* outer;
  };

  Status expand(const Probe& probe, const ProbePoint& point) {
    bool is_any = false;
    Error why(ErrorKind::kUsage, "");
    TRY_OK(expand_point(probe, point, point, nullptr, 0, is_any, why));
    if (is_any || point.is_optional) return {};
    return why;
  }

  // `is_any` becomes true if there is a probe; else `why` is what is wrong.
  Status expand_point(const Probe& probe, const ProbePoint& written, const ProbePoint& point,
                      const Around* around, size_t depth, bool& is_any, Error& why) {
    if (depth > kMaxAliases)
      return error_at(written.parts[0].spot,
                      "the aliases of this probe point name each other without an end");
    bool is_alias = false;
    for (const Alias* alias : aliases_)
      for (const ProbePoint& name : alias->names) {
        if (!matches(point, name)) continue;
        is_alias = true;
        const Around inner{alias, around};
        for (const ProbePoint& target : alias->points) {
          ProbePoint whole = target;
          whole.parts.insert(whole.parts.end(),
                             point.parts.begin() + static_cast<ptrdiff_t>(name.parts.size()),
                             point.parts.end());
          whole.is_optional = target.is_optional || point.is_optional;
          if (whole.condition == nullptr) whole.condition = point.condition;
          bool is_there = false;
          TRY_OK(expand_point(probe, written, whole, &inner, depth + 1, is_there, why));
          is_any = is_any || is_there;
          if (!is_there && !whole.is_optional) return why;
          if (is_there && target.is_sufficient) break;
        }
      }
    if (is_alias) return {};
    return add(probe, written, point, around, is_any, why);
  }

  // The alias's name is how the point begins.
  static bool matches(const ProbePoint& point, const ProbePoint& name) {
    if (point.parts.size() < name.parts.size()) return false;
    for (size_t i = 0; i < name.parts.size(); ++i) {
      const auto &p = point.parts[i], &n = name.parts[i];
      if (p.text != n.text || p.number != n.number) return false;
      if (p.name != n.name && fnmatch(p.name.c_str(), n.name.c_str(), 0) != 0) return false;
    }
    return true;
  }

  Status add(const Probe& probe, const ProbePoint& written, const ProbePoint& point, const Around* around,
             bool& is_any, Error& why) {
    if (has_wildcard(point.parts[0].name)) {
      why = error_at(written.parts[0].spot, "no probe point matches this");
      return {};
    }
    auto wanted = wanted_probe(point);
    if (!wanted) {
      why = wanted.error();
      return {};
    }
    is_any = true;
    if (module_.handlers.size() == kMaxHandlers)
      return error_at(written.parts[0].spot, "these are too many probes");
    Handler h{.wanted = *std::move(wanted),
              .point = point,
              .name = text_of(without_suffix(written)),
              .spot = probe.spot};
    h.wanted.range = written.parts[0].spot.range;
    h.location = text_of(without_suffix(point));
    if (point.condition != nullptr) h.condition = clone(*point.condition);
    add_before(around, h);
    h.bodies.push_back(clone(*probe.body));
    add_behind(around, h);
    module_.handlers.push_back(std::move(h));
    return {};
  }

  // The innermost alias is the one next to the probe's own points, whose values the outer ones see.
  static void add_before(const Around* around, Handler& h) {
    for (; around != nullptr; around = around->outer)
      if (!around->alias->is_epilogue) h.bodies.push_back(clone(*around->alias->body));
  }

  static void add_behind(const Around* around, Handler& h) {
    if (around == nullptr) return;
    add_behind(around->outer, h);
    if (around->alias->is_epilogue) h.bodies.push_back(clone(*around->alias->body));
    if (around->alias->epilogue != nullptr) h.bodies.push_back(clone(*around->alias->epilogue));
  }

  static ProbePoint without_suffix(const ProbePoint& point) { return {.parts = point.parts}; }

  // begin(-1) runs before begin, end(-1) before end.
  void sort() {
    auto& handlers = module_.handlers;
    using Kind = script::WantedProbe::Kind;
    std::vector<uint32_t> order(handlers.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto key = [&](uint32_t i) {
      const Kind kind = handlers[i].wanted.kind;
      const bool is_ordered = kind == Kind::kBegin || kind == Kind::kEnd || kind == Kind::kError;
      return std::pair(is_ordered ? static_cast<int>(kind) : static_cast<int>(Kind::kNever),
                       is_ordered ? sequence_of(handlers[i].point) : 0);
    };
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    std::vector<uint32_t> place(order.size());
    std::vector<Handler> sorted;
    for (uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      sorted.push_back(std::move(handlers[order[i]]));
    }
    for (Handler& h : sorted)
      if (h.wanted.instead_of) h.wanted.instead_of = place[*h.wanted.instead_of];
    handlers = std::move(sorted);
  }

  // What a global is anyway.
  static bool is_nothing(const Expression& e) {
    return e.kind == Expression::Kind::kText ? e.text.empty() : e.number == 0;
  }

  // Globals have their first values before anything else runs.
  void add_initial() {
    bool is_needed = !module_.settings.globals.empty() || !module_.settings.arguments.empty();
    for (const File& file : module_.files)
      for (const auto& global : file.globals)
        is_needed = is_needed || (global->init != nullptr && !is_nothing(*global->init));
    if (!is_needed || module_.handlers.empty()) return;
    for (Handler& h : module_.handlers)
      if (h.wanted.instead_of) ++*h.wanted.instead_of;
    Handler initial;
    initial.is_initial = true;
    initial.name = initial.location = "begin";
    module_.handlers.insert(module_.handlers.begin(), std::move(initial));
  }

  Module& module_;
  std::vector<const Alias*> aliases_;
};

}  // namespace

Status expand_aliases(Module& module) { return Expander(module).run(); }

}  // namespace blip::stap
