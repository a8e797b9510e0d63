// SPDX-License-Identifier: MIT
#include "session/plan/targets.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/same_file.h"
#include "elf/demangle.h"
#include "probe/code/functions.h"
#include "session/plan/all_instructions.h"
#include "session/plan/inlined_copies.h"
#include "session/plan/line_points.h"
#include "session/plan/purpose.h"
#include "session/plan/shown.h"

namespace blip::session {

namespace {

constexpr size_t kManyProbes = 16;

class TargetFinder {
 public:
  TargetFinder(const Options& options, std::span<const probe::Module> modules, const FindContext& context,
               const RequestMask& wanted)
      : options_(options),
        modules_(modules),
        context_(context.resolve),
        debug_(context.debug),
        wanted_(wanted) {
    context_.starts = &starts_;
    if (options.probes.size() < kManyProbes) return;
    for (const ProbeRequest& request : options.probes) names_.want(request.spec);
    context_.names = &names_;
  }

  Result<FoundTargets> run(bool part_will_do) {
    TRY_OK(add_functions(ProbeKind::kFunction, part_will_do));
    TRY_OK(add_functions(ProbeKind::kReturn, part_will_do));
    look_for_lines();
    for (size_t i = 0; i < options_.probes.size(); ++i)
      if (Status status = is_wanted(i) ? add(i) : Status();
          !status && !part_will_do && !options_.probes[i].may_be_missing)
        return status.error();
    TRY_OK(keep_to_files(part_will_do));
    drop_alternatives();
    std::stable_sort(found_.targets.begin(), found_.targets.end(),
                     [](const Target& a, const Target& b) { return a.request < b.request; });
    drop_repeated();
    tell_overloads_apart();
    return std::move(found_);
  }

 private:
  bool is_wanted(size_t request) const { return wanted_.empty() || wanted_[request]; }

  // All at once: many names are looked up faster so.
  Status add_functions(ProbeKind kind, bool part_will_do) {
    std::vector<elf::Spec> specs;
    std::vector<size_t> requests;
    for (size_t i = 0; i < options_.probes.size(); ++i) {
      if (options_.probes[i].kind != kind || !is_wanted(i)) continue;
      const elf::Spec& spec = options_.probes[i].spec;
      const auto copies = kind == ProbeKind::kFunction ? add_inlined(i) : std::nullopt;
      const bool may_be_missing = part_will_do || options_.probes[i].may_be_missing;
      if ((copies || may_be_missing) && !is_function(spec, copies.value_or(modules_))) continue;
      if (kind == ProbeKind::kReturn) TRY_OK(tell_inlined(spec, may_be_missing));
      specs.push_back(spec);
      requests.push_back(i);
    }
    if (specs.empty()) return {};
    TRY(std::vector<probe::FunctionTarget> functions, probe::resolve_functions(specs, modules_, context_));
    found_.targets.reserve(found_.targets.size() + functions.size());
    for (probe::FunctionTarget& f : functions)
      found_.targets.push_back(
          {.module = f.module,
           .request = requests[f.request],
           .point = {.addr = f.function.addr,
                     .is_entry = true,
                     .function = f.function,
                     .shown = shown_at_entry(options_.probes[requests[f.request]])},
           .name = f.name + (kind == ProbeKind::kReturn && !options_.latencies ? ":return" : "")});
    return {};
  }

  bool is_function(const elf::Spec& spec, std::span<const probe::Module> modules) const {
    return probe::resolve_functions({&spec, 1}, modules, context_).has_value();
  }

  // Returns the modules where the function may be called too; nothing if there is no copy.
  std::optional<std::span<const probe::Module>> add_inlined(size_t request) {
    const ProbeRequest& asked = options_.probes[request];
    if (options_.no_inline) return {};
    InlinedCopies copies = find_inlined_copies(asked.spec, modules_, context_, debug_);
    found_.refused.insert(found_.refused.end(), copies.refused.begin(), copies.refused.end());
    if (copies.found.empty()) return {};
    const auto where = copies.where_called(asked.spec, modules_);
    for (InlinedCopy& copy : copies.found)
      found_.targets.push_back(
          {.module = copy.module,
           .request = request,
           .point = copy.point,
           .name = copy.name(),
           .instance = std::make_shared<dwarf::InlinedInstance>(std::move(copy.instance))});
    return where;
  }

  // Copies have no return of their own.
  Status tell_inlined(const elf::Spec& spec, bool part_will_do) {
    const bool fails = !part_will_do && !is_function(spec, modules_);
    if (options_.no_inline || (!fails && !options_.verbose)) return {};
    const InlinedCopies copies = find_inlined_copies(spec, modules_, context_, debug_);
    const size_t count = copies.found.size() + copies.refused.size();
    if (count == 0) return {};
    if (fails)
      return Error(ErrorKind::kNotFound,
                   fmt::format("{}: it is inlined wherever it is called ({} {}), and that has no return; "
                               "--function {} probes where it begins",
                               spec.text, count, count == 1 ? "copy" : "copies", spec.text));
    found_.notes.push_back(fmt::format("{}: {} inlined {} no return, and {} not probed", spec.text, count,
                                       count == 1 ? "copy has" : "copies have", count == 1 ? "is" : "are"));
    return {};
  }

  Status add(size_t request) {
    switch (options_.probes[request].kind) {
      case ProbeKind::kFunction:
      case ProbeKind::kReturn:
        return {};  // done before
      case ProbeKind::kInstruction:
        return add_instruction(request);
      case ProbeKind::kLine:
        return add_line(request);
      case ProbeKind::kEveryInstruction:
        return add_every_instruction(request);
      case ProbeKind::kMark:
        return add_marks(request);
    }
    return {};
  }

  Status add_instruction(size_t request) {
    TRY(probe::FoundPoint found, probe::find_instruction(options_.probes[request].spec, modules_, context_));
    found_.targets.push_back(
        {.module = found.module, .request = request, .point = found.point, .name = std::move(found.name)});
    return {};
  }

  void look_for_lines() {
    std::vector<ProbeRequest> lines;
    for (size_t i = 0; i < options_.probes.size(); ++i) {
      if (options_.probes[i].kind != ProbeKind::kLine || !is_wanted(i)) continue;
      line_of_request_[i] = lines.size();
      lines.push_back(options_.probes[i]);
    }
    if (!lines.empty()) lines_.emplace(lines, modules_, starts_);
  }

  Status add_line(size_t request) {
    const ProbeRequest& line = options_.probes[request];
    TRY(std::vector<ModulePoint> points, lines_->of(line_of_request_.at(request)));
    for (ModulePoint& p : points)
      found_.targets.push_back(
          {.module = p.module, .request = request, .point = p.point, .name = line.spec.text});
    return {};
  }

  Status add_every_instruction(size_t request) {
    TRY(AllInstructions all,
        find_all_instructions(options_.probes[request].spec, modules_, context_, options_.max_probes));
    for (ModulePoint& p : all.points)
      found_.targets.push_back({.module = p.module, .request = request, .point = p.point});
    found_.refused.insert(found_.refused.end(), all.refused.begin(), all.refused.end());
    return {};
  }

  Status add_marks(size_t request) {
    TRY(FoundMarks marks, marks_.find(options_.probes[request].spec));
    for (FoundMark& m : marks.found)
      found_.targets.push_back(
          {.module = m.module, .request = request, .point = m.point, .name = m.name(), .mark = m.mark});
    found_.refused.insert(found_.refused.end(), marks.refused.begin(), marks.refused.end());
    return {};
  }

  // What was found in another file than the request means.
  Status keep_to_files(bool part_will_do) {
    for (size_t i = 0; i < options_.probes.size(); ++i) {
      const ProbeRequest& request = options_.probes[i];
      if (!request.only_in || !is_wanted(i)) continue;
      std::erase_if(found_.targets, [&](const Target& t) {
        return t.request == i && !is_meant(modules_[t.module], *request.only_in);
      });
      if (part_will_do || request.may_be_missing || has_target(i)) continue;
      const std::string where = request.only_in->empty() ? modules_.front().basename() : *request.only_in;
      return Error(ErrorKind::kNotFound, fmt::format("{}: nothing in {} matches", request.spec.text, where));
    }
    return {};
  }

  static bool is_meant(const probe::Module& module, const std::string& only_in) {
    return only_in.empty() ? module.is_executable() : is_same_file(module.path(), only_in);
  }

  bool has_target(size_t request) const {
    return std::any_of(found_.targets.begin(), found_.targets.end(),
                       [&](const Target& t) { return t.request == request; });
  }

  void drop_alternatives() {
    for (size_t i = 0; i < options_.probes.size(); ++i) {
      const auto& first = options_.probes[i].instead_of;
      if (first && has_target(*first))
        std::erase_if(found_.targets, [&](const Target& t) { return t.request == i; });
    }
  }

  // A count shows nothing of a hit.
  bool is_alike(const ProbeRequest& a, const ProbeRequest& b) const {
    if (makes_events(options_)) return a.wants_the_same(b);
    return a.kind == b.kind && a.data.condition == b.data.condition;
  }

  // By request: the first one that wants the same.
  std::vector<size_t> first_alike() const {
    const std::vector<ProbeRequest>& all = options_.probes;
    std::vector<size_t> first(all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      const auto alike = std::find_if(all.begin(), all.begin() + static_cast<ptrdiff_t>(i),
                                      [&](const ProbeRequest& r) { return is_alike(r, all[i]); });
      first[i] = static_cast<size_t>(alike - all.begin());
    }
    return first;
  }

  // Drops repeated functions and marks, which several patterns may mean. An instruction is probed as often as it is
  // asked for.
  void drop_repeated() {
    const std::vector<size_t> alike = first_alike();
    std::vector<size_t> users(alike.size());
    for (const size_t first : alike) ++users[first];
    std::set<std::tuple<size_t, size_t, FileAddr, std::string>> known;
    std::erase_if(found_.targets, [&](const Target& t) {
      const size_t first = alike[t.request];
      const ProbeKind kind = options_.probes[first].kind;
      return (kind == ProbeKind::kFunction || kind == ProbeKind::kReturn || kind == ProbeKind::kMark) &&
             users[first] > 1 && !known.emplace(first, t.module, t.point.addr, t.name).second;
    });
  }

  // Functions of one name in one file are called by their parameters too.
  void tell_overloads_apart() {
    std::map<Place, std::string> names;                          // of functions
    std::map<std::pair<size_t, std::string>, size_t> functions;  // of a name in a module
    for (const Target& t : found_.targets)
      if (may_be_overloaded(t)) {
        const auto [known, is_new] = names.try_emplace(place_of(t));
        if (!is_new) continue;
        known->second = probe::display_name(modules_[t.module], t.point.function);
        ++functions[{t.module, known->second}];
      }
    for (Target& t : found_.targets) {
      if (!may_be_overloaded(t)) continue;
      const std::string& name = names[place_of(t)];
      if (functions[{t.module, name}] > 1) rename(t, name);
    }
  }

  using Place = std::pair<size_t, FileAddr>;
  static Place place_of(const Target& t) { return {t.module, t.point.function.addr}; }

  bool may_be_overloaded(const Target& t) const {
    const ProbeKind kind = options_.probes[t.request].kind;
    const bool is_of_function =
        kind == ProbeKind::kFunction || kind == ProbeKind::kReturn || kind == ProbeKind::kEveryInstruction;
    return is_of_function && !t.instance && elf::is_mangled(t.point.function.name);
  }

  // "f", "f:return"; of an instruction, whose name is not made yet, "f+0x1f".
  void rename(Target& t, const std::string& name) const {
    std::string wanted = probe::overload_name(modules_[t.module], t.point.function);
    if (t.name.empty()) {
      t.name = fmt::format("{}+{:#x}", wanted, t.point.addr - t.point.function.addr);
    } else if (t.name.starts_with(name)) {
      t.name.replace(0, name.size(), wanted);
    }
  }

  const Options& options_;
  std::span<const probe::Module> modules_;
  probe::NameIndexes names_;
  probe::InstructionStarts starts_;
  MarkFinder marks_{modules_, starts_};
  std::optional<LinePoints> lines_;           // if any are asked for
  std::map<size_t, size_t> line_of_request_;  // which of them
  probe::ResolveContext context_;
  DebugStore& debug_;
  const RequestMask& wanted_;
  FoundTargets found_;
};

}  // namespace

Result<FoundTargets> find_targets(const Options& options, std::span<const probe::Module> modules,
                                  const FindContext& context, bool part_will_do, const RequestMask& wanted) {
  return TargetFinder(options, modules, context, wanted).run(part_will_do);
}

std::string name_of(const Target& target, std::span<const probe::Module> modules) {
  if (!target.name.empty()) return target.name;
  return probe::place_name(modules[target.module], target.point.function, target.point.addr);
}

}  // namespace blip::session
