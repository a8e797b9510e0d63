// SPDX-License-Identifier: MIT
#include "session/plan/line_points.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/path.h"
#include "base/progress.h"
#include "elf/match.h"
#include "probe/code/points.h"
#include "session/symbolize/debug_images.h"

namespace blip::session {

namespace {

// One source file, over all modules.
struct Source {
  std::vector<std::pair<size_t, FileAddr>> places;  // module, address
  uint32_t line_before = 0;
  uint32_t line_after = 0;
};

class LineFinder {
 public:
  LineFinder(const ProbeRequest& request, std::span<const probe::Module> modules,
             probe::InstructionStarts& starts)
      : request_(request), modules_(modules), starts_(starts) {}

  void add(size_t m, const dwarf::LineSearch& found) {
    ++searched_;
    for (const dwarf::LineMatch& match : found.files) add(m, match);
    other_files_.insert(found.names.begin(), found.names.end());
  }
  void add_without_tables(size_t m) { without_tables_.push_back(m); }

  Result<std::vector<ModulePoint>> run() {
    if (sources_.empty()) return searched_ == 0 ? no_line_tables() : no_such_file();
    if (sources_.size() > 1) return several_files();
    const Source& source = sources_.begin()->second;
    if (source.places.empty()) return no_code(source);
    return points_of(source);
  }

 private:
  Error wrong(const std::string& what) const {
    return Error(ErrorKind::kNotFound, fmt::format("{}: {}", request_.spec.text, what));
  }

  void add(size_t m, const dwarf::LineMatch& match) {
    Source& source = sources_[match.path];
    for (FileAddr address : match.addresses) source.places.emplace_back(m, address);
    source.line_before = std::max(source.line_before, match.line_before);
    if (source.line_after == 0 || (match.line_after != 0 && match.line_after < source.line_after))
      source.line_after = match.line_after;
  }

  // Linkers leave the rows of code they dropped, at addresses that hold nothing or something else.
  Result<std::vector<ModulePoint>> points_of(const Source& source) const {
    std::vector<ModulePoint> points;
    std::string why;
    for (const auto& [m, address] : source.places) {
      auto point = probe::point_at(modules_[m], address, &starts_);
      if (point)
        points.push_back({m, *std::move(point)});
      else
        why = fmt::format("{}+{:#x}: {}", modules_[m].basename(), address.value, point.error().message());
    }
    if (points.empty()) return wrong(why);
    return points;
  }

  Error no_code(const Source& source) const {
    std::vector<std::string> near;
    if (source.line_before != 0) near.push_back(std::to_string(source.line_before));
    if (source.line_after != 0) near.push_back(std::to_string(source.line_after));
    return wrong(fmt::format("no code comes from that line; the nearest {} {}",
                             near.size() == 1 ? "line that has some is" : "lines that have some are",
                             fmt::join(near, " and ")));
  }

  Error several_files() const {
    std::vector<std::string> paths;
    for (const auto& [path, source] : sources_)
      paths.push_back(source.places.empty() ? path + " (no code on that line)" : path);
    return wrong(fmt::format("{} source files are called that: say more of the path, one of {}", paths.size(),
                             fmt::join(paths, ", ")));
  }

  Error no_such_file() const {
    std::vector<elf::Function> candidates;  // suggest() is for names of functions; these are names too
    for (const std::string& path : other_files_) candidates.push_back({.name = basename_of(path)});
    const std::string_view wanted = basename_of(request_.spec.name);
    std::string hint;
    if (const auto nearest = elf::suggest(wanted, candidates); !nearest.empty())
      hint = fmt::format("; nearest: {}", fmt::join(nearest, ", "));
    const bool executable_too = !without_tables_.empty() && modules_[without_tables_[0]].is_executable();
    if (executable_too)
      hint = "; " + without_tables(modules_[without_tables_[0]]);
    else if (!without_tables_.empty())
      hint += fmt::format("; without line tables: {}", names_without_tables());
    return wrong(fmt::format("no source file of that name is known{}", hint));
  }

  std::string names_without_tables() const {
    std::vector<std::string> names;
    for (size_t m : without_tables_) names.push_back(modules_[m].basename());
    return fmt::format("{}", fmt::join(names, ", "));
  }

  Error no_line_tables() const { return wrong(without_tables(modules_.front())); }

  static std::string without_tables(const probe::Module& module) {
    const std::string id = module.file().build_id();
    return fmt::format(
        "{} has no line tables (.debug_line): compile it with -g, or install its debugging symbols{}",
        module.basename(),
        id.empty() ? std::string()
                   : fmt::format(" (a package {}-dbgsym or -debuginfo; build-id {})", module.basename(), id));
  }

  const ProbeRequest& request_;
  std::span<const probe::Module> modules_;
  probe::InstructionStarts& starts_;
  std::map<std::string, Source> sources_;  // by path
  std::set<std::string> other_files_;
  std::vector<size_t> without_tables_;
  size_t searched_ = 0;
};

}  // namespace

LinePoints::LinePoints(std::span<const ProbeRequest> lines, std::span<const probe::Module> modules,
                       probe::InstructionStarts& starts)
    : lines_(lines.begin(), lines.end()), modules_(modules), starts_(starts), searches_(modules.size()) {
  std::vector<dwarf::SourceLine> asked;
  for (const ProbeRequest& line : lines) asked.push_back({line.spec.name, line.line});
  for (size_t m = 0; m < modules.size(); ++m) {
    const progress::Step step(fmt::format("reading the line tables of {}", modules[m].basename()));
    for (const std::span<const uint8_t> image : debug_images(modules[m])) {
      auto found = dwarf::search_lines(image, asked);
      if (!found) continue;
      searches_[m] = *std::move(found);
      break;
    }
  }
}

Result<std::vector<ModulePoint>> LinePoints::of(size_t line) const {
  LineFinder finder(lines_[line], modules_, starts_);
  for (size_t m = 0; m < modules_.size(); ++m) {
    if (searches_[m])
      finder.add(m, (*searches_[m])[line]);
    else
      finder.add_without_tables(m);
  }
  return finder.run();
}

}  // namespace blip::session
