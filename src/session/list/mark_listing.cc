// SPDX-License-Identifier: MIT
#include "session/list/mark_listing.h"

#include <fmt/core.h>

#include <algorithm>

#include "probe/patch/plan.h"
#include "script/types/place_text.h"
#include "session/list/list_source.h"
#include "session/plan/marks.h"

namespace blip::session {

namespace {

std::vector<ListedArgument> arguments_to_list(const elf::Mark& mark, const probe::Module& module) {
  const std::vector<std::string> operands = operands_of(mark);
  std::vector<ListedArgument> listed;
  for (const script::Variable& v : arguments_of(mark, module))
    listed.push_back({.name = v.name,
                      .type = script::to_string(*v.type),
                      .place = script::place_text(v.place),
                      .operand = operands[listed.size()]});
  return listed;
}

class MarkLister {
 public:
  explicit MarkLister(const ListRequest& request) : request_(request) {}

  Result<MarkListing> run() {
    TRY(source_, ListSource::open(request_));
    listing_.modules = source_.modules;
    listing_.notes = source_.notes();
    source_.plan_options.verdict_only = true;
    probe::InstructionStarts starts;
    MarkFinder finder(listing_.modules, starts);
    elf::Spec all{.kind = elf::SpecKind::kGlob, .name = "*:*"};
    all.text = request_.pid != 0 ? fmt::format("process {}", request_.pid) : request_.file;
    TRY(FoundMarks marks, finder.find(request_.spec ? *request_.spec : all));
    for (const Refusal& refusal : marks.refused)
      listing_.notes.push_back(fmt::format("{}: {}", refusal.probe, refusal.reason));
    for (const FoundMark& found : marks.found) add(found);
    for (size_t m = 0; m < listing_.modules.size(); ++m) judge(m, marks.found);
    return std::move(listing_);
  }

 private:
  std::optional<uint16_t> value_at(TargetAddr semaphore) const {
    const auto value = source_.memory->read_value<uint16_t>(semaphore);
    return value ? std::optional(*value) : std::nullopt;
  }

  void add(const FoundMark& found) {
    const probe::Module& module = listing_.modules[found.module];
    ListedMark listed{.provider = found.mark->provider,
                      .name = found.mark->name,
                      .address = module.to_target(found.point.addr).value,
                      .module = found.module,
                      .arguments = arguments_to_list(*found.mark, module)};
    if (found.mark->semaphore) {
      const TargetAddr semaphore = module.to_target(*found.mark->semaphore);
      listed.semaphore = semaphore.value;
      if (source_.memory) listed.listeners = value_at(semaphore);
    }
    listing_.marks.push_back(std::move(listed));
  }

  void judge(size_t m, const std::vector<FoundMark>& found) {
    std::vector<size_t> mine;
    std::vector<probe::Point> points;
    for (size_t i = 0; i < found.size(); ++i)
      if (found[i].module == m) {
        mine.push_back(i);
        points.push_back(found[i].point);
      }
    if (mine.empty()) return;
    probe::ModulePlan plan =
        probe::plan_points(source_.loaded(m), points, source_.plan_options, *source_.space);
    for (size_t i = 0; i < mine.size(); ++i) {
      ListedMark& mark = listing_.marks[mine[i]];
      probe::PlannedProbe& probe = plan.probes[i];
      mark.step = probe.refused() ? PatchStep::kRefused : patch_step(probe.step);
      mark.refusal = std::move(probe.refusal);
    }
  }

  const ListRequest& request_;
  MarkListing listing_;
  ListSource source_;
};

}  // namespace

Result<MarkListing> list_marks(const ListRequest& request) { return MarkLister(request).run(); }

}  // namespace blip::session
