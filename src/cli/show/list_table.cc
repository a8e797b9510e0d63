// SPDX-License-Identifier: MIT
#include "cli/show/list_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "base/parallel.h"
#include "cli/output/color.h"
#include "cli/output/escape.h"
#include "cli/output/json_text.h"
#include "cli/show/event_json.h"
#include "cli/show/list_data.h"

namespace blip::cli {
namespace {

using session::ListedFunction;
using session::Listing;
using session::PatchStep;

constexpr size_t kFunctionsPerPiece = 4096;
// As PatchStep.
constexpr auto kStepNames =
    std::to_array<std::string_view>({"nop5", "insn", "window", "upstream", "springboard", "pun",
                                     "prefixed-pun", "evict-next", "evict-neighbour", "trap", "refused"});
static_assert(kStepNames.size() == static_cast<size_t>(PatchStep::kRefused) + 1);

// The lines of all functions, rendered on all CPUs by writers of their own.
template <typename MakeWriter>
std::string lines(const Listing& listing, std::string first, MakeWriter make_writer) {
  const auto& functions = listing.functions;
  std::vector<std::string> pieces(functions.size() / kFunctionsPerPiece + 1);
  parallel_pieces(functions.size(), kFunctionsPerPiece, [&](size_t begin, size_t end) {
    auto writer = make_writer();
    for (size_t i = begin; i < end; ++i) writer.append(functions[i]);
    pieces[begin / kFunctionsPerPiece] = writer.take();
  });
  for (const std::string& piece : pieces) first += piece;
  return first;
}

// Settings that are the same for all lines.
struct Columns {
  explicit Columns(const Listing& listing) {
    for (const probe::Module& m : listing.modules) modules.push_back(escaped(m.basename()));
    for (const ListedFunction& f : listing.functions) {
      size_width = std::max(size_width, fmt::formatted_size("{}", f.size));
      module_width = std::max(module_width, modules[f.module].size());
      patch_width = std::max(patch_width, step_name(f.step).size());
    }
  }

  std::vector<std::string> modules;
  size_t size_width = 4;    // SIZE
  size_t module_width = 6;  // MODULE
  size_t patch_width = 7;   // refused
};

class TableWriter {
 public:
  TableWriter(const Listing& listing, const Columns& columns, const ListStyle& style)
      : listing_(listing), columns_(columns), style_(style) {}

  void append_modules();
  void append_header();
  void append(const ListedFunction& f);
  std::string take() { return std::move(out_); }

 private:
  auto end() { return std::back_inserter(out_); }
  void begin_color(const char* color) {
    if (style_.color) out_ += color;
  }
  void end_color() { begin_color(kPlain); }
  void append_details(const ListedFunction& f);

  const Listing& listing_;
  const Columns& columns_;
  const ListStyle& style_;
  std::string out_;
};

// Only those that have functions here.
void TableWriter::append_modules() {
  for (size_t m = 0; m < columns_.modules.size(); ++m) {
    const bool shown = std::any_of(listing_.functions.begin(), listing_.functions.end(),
                                   [&](const ListedFunction& f) { return f.module == m; });
    if (!shown) continue;
    const std::string id = listing_.modules[m].file().build_id();
    begin_color(kDim);
    fmt::format_to(end(), "# {}: {}, {}", columns_.modules[m], escaped(listing_.modules[m].path()),
                   id.empty() ? "no build-id" : "build-id " + id);
    end_color();
    out_ += '\n';
  }
}

void TableWriter::append_header() {
  begin_color(kBold);
  fmt::format_to(end(), "{:<14}  {:>{}}  {:<{}}  {:<{}}  NAME", "ADDRESS", "SIZE", columns_.size_width,
                 "PATCH", columns_.patch_width, "MODULE", columns_.module_width);
  end_color();
  out_ += '\n';
}

void TableWriter::append(const ListedFunction& f) {
  fmt::format_to(end(), "{:#014x}  {:>{}}  {:<{}}  {:<{}}  ", f.address, f.size, columns_.size_width,
                 step_name(f.step), columns_.patch_width, columns_.modules[f.module], columns_.module_width);
  begin_color(kNameColor);
  append_escaped(out_, f.name);
  append_escaped(out_, f.parameters);
  end_color();
  if (f.step != PatchStep::kRefused && !style_.details) {
    out_ += '\n';
    return;
  }
  begin_color(kDim);
  if (style_.details) append_details(f);
  if (f.step == PatchStep::kRefused) {
    out_ += "  # ";
    append_escaped(out_, f.refusal);
  }
  end_color();
  out_ += '\n';
  if (style_.details) append_data(out_, f.data);
}

void TableWriter::append_details(const ListedFunction& f) {
  if (!f.source_file.empty()) {
    out_ += "  at ";
    append_escaped(out_, f.source_file);
    fmt::format_to(end(), ":{}", f.source_line);
  }
  if (!f.mangled.empty()) {
    out_ += "  mangled ";
    append_escaped(out_, f.mangled);
  }
  for (size_t i = 0; i < f.aliases.size(); ++i) {
    out_ += i == 0 ? "  also " : ",";
    append_escaped(out_, f.aliases[i]);
  }
}

class JsonWriter {
 public:
  JsonWriter(const Listing& listing, bool details) : listing_(listing), details_(details) {}

  void append(const ListedFunction& f) {
    static const std::string begin = json_begin("function");
    JsonText json(out_);
    out_ += begin;
    json.text("name", f.name);
    if (!f.parameters.empty()) json.text("parameters", f.parameters);
    if (!f.mangled.empty()) json.text("mangled", f.mangled);
    json.number("address", f.address);
    json.number("size", f.size);
    if (!f.inlined_in.empty()) json.text("inlined_in", f.inlined_in);
    json.text("module", listing_.modules[f.module].basename());
    const bool refused = f.step == PatchStep::kRefused;
    json.text("patch", refused ? "none" : "jump");
    refused ? json.text("refused", f.refusal) : json.text("step", step_name(f.step));
    if (details_) append_details(json, f);
    out_ += "}\n";
  }
  std::string take() { return std::move(out_); }

 private:
  void append_details(JsonText& json, const ListedFunction& f);

  const Listing& listing_;
  bool details_;
  std::string out_;
};

void JsonWriter::append_details(JsonText& json, const ListedFunction& f) {
  if (!f.source_file.empty()) {
    json.text("file", f.source_file);
    json.number("line", f.source_line);
  }
  if (!f.aliases.empty())
    json.list("aliases", f.aliases, [&](std::string_view name) { append_json_string(out_, name); });
  append_data_json(out_, f.data);
  json.text("path", listing_.modules[f.module].path());
  if (const std::string id = listing_.modules[f.module].file().build_id(); !id.empty())
    json.text("build_id", id);
}

}  // namespace

std::string_view step_name(PatchStep step) { return kStepNames[static_cast<size_t>(step)]; }

std::vector<PatchStep> all_steps() {
  std::vector<PatchStep> steps;
  for (size_t i = 0; i < static_cast<size_t>(PatchStep::kRefused); ++i)
    steps.push_back(static_cast<PatchStep>(i));
  return steps;
}

std::string list_table(const Listing& listing, const ListStyle& style) {
  const Columns columns(listing);
  TableWriter first(listing, columns, style);
  if (style.details) first.append_modules();
  if (style.header) first.append_header();
  return lines(listing, first.take(), [&] { return TableWriter(listing, columns, style); });
}

std::string list_json(const Listing& listing, bool details) {
  return lines(listing, {}, [&] { return JsonWriter(listing, details); });
}

std::string list_summary(const Listing& listing) {
  const auto count_of = [&](auto what) {
    return static_cast<size_t>(std::count_if(listing.functions.begin(), listing.functions.end(), what));
  };
  const size_t all = listing.functions.size();
  const size_t refused = count_of([](const ListedFunction& f) { return f.step == PatchStep::kRefused; });
  const size_t copies = count_of([](const ListedFunction& f) { return !f.inlined_in.empty(); });
  return fmt::format("{} functions{}, {} can be probed, {} refused", all - copies,
                     copies ? fmt::format(" and {} inlined copies", copies) : "", all - refused, refused);
}

}  // namespace blip::cli
