// SPDX-License-Identifier: MIT
#include "cli/list_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/color.h"
#include "cli/escape.h"

namespace blip::cli {
namespace {

using session::ListedFunction;
using session::Listing;
using session::PatchStep;

constexpr size_t kBytesPerLine = 96;  // a guess, to allocate once

class TableWriter {
 public:
  TableWriter(const Listing& listing, const ListStyle& style) : listing_(listing), style_(style) {
    for (const probe::Module& module : listing.modules) modules_.push_back(escaped(module.basename()));
    for (const ListedFunction& f : listing.functions) {
      size_width_ = std::max(size_width_, fmt::formatted_size("{}", f.size));
      module_width_ = std::max(module_width_, modules_[f.module].size());
    }
  }

  std::string run() {
    out_.reserve(listing_.functions.size() * kBytesPerLine);
    if (style_.details) append_modules();
    if (style_.header) append_header();
    for (const ListedFunction& f : listing_.functions) append(f);
    return std::move(out_);
  }

 private:
  auto end() { return std::back_inserter(out_); }
  void begin_color(const char* color) {
    if (style_.color) out_ += color;
  }
  void end_color() { begin_color(kPlain); }

  void append_modules();
  void append_header();
  void append(const ListedFunction& f);
  void append_details(const ListedFunction& f);

  const Listing& listing_;
  const ListStyle& style_;
  std::vector<std::string> modules_;
  size_t size_width_ = 4;    // SIZE
  size_t module_width_ = 6;  // MODULE
  std::string out_;
};

// Only those that have functions here.
void TableWriter::append_modules() {
  for (size_t m = 0; m < modules_.size(); ++m) {
    const bool shown = std::any_of(listing_.functions.begin(), listing_.functions.end(),
                                   [&](const ListedFunction& f) { return f.module == m; });
    if (!shown) continue;
    const std::string id = listing_.modules[m].file().build_id();
    begin_color(kDim);
    fmt::format_to(end(), "# {}: {}, {}", modules_[m], escaped(listing_.modules[m].path()),
                   id.empty() ? "no build-id" : "build-id " + id);
    end_color();
    out_ += '\n';
  }
}

void TableWriter::append_header() {
  begin_color(kBold);
  fmt::format_to(end(), "{:<14}  {:>{}}  {:<7}  {:<{}}  NAME", "ADDRESS", "SIZE", size_width_, "PATCH",
                 "MODULE", module_width_);
  end_color();
  out_ += '\n';
}

void TableWriter::append(const ListedFunction& f) {
  fmt::format_to(end(), "{:#014x}  {:>{}}  {:<7}  {:<{}}  ", f.address, f.size, size_width_,
                 step_name(f.step), modules_[f.module], module_width_);
  begin_color(kNameColor);
  append_escaped(out_, f.name);
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
  explicit JsonWriter(bool details) : details_(details) {}

  void append(const Listing& listing, const ListedFunction& f) {
    out_ += "{\"name\":";
    append_json_string(out_, f.name);
    if (!f.mangled.empty()) text("mangled", f.mangled);
    number("address", f.address);
    number("size", f.size);
    text("module", listing.modules[f.module].basename());
    const bool refused = f.step == PatchStep::kRefused;
    text("patch", refused ? "none" : "jump");
    refused ? text("refused", f.refusal) : text("step", step_name(f.step));
    if (details_) append_details(listing, f);
    out_ += "}\n";
  }
  std::string take() { return std::move(out_); }

 private:
  void key(std::string_view name) { fmt::format_to(std::back_inserter(out_), ",\"{}\":", name); }
  void number(std::string_view name, uint64_t value) {
    key(name);
    fmt::format_to(std::back_inserter(out_), "{}", value);
  }
  void text(std::string_view name, std::string_view value) {
    key(name);
    append_json_string(out_, value);
  }
  void append_details(const Listing& listing, const ListedFunction& f);

  bool details_;
  std::string out_;
};

void JsonWriter::append_details(const Listing& listing, const ListedFunction& f) {
  if (!f.source_file.empty()) {
    text("file", f.source_file);
    number("line", f.source_line);
  }
  if (!f.aliases.empty()) {
    key("aliases");
    for (size_t i = 0; i < f.aliases.size(); ++i) {
      out_ += i == 0 ? '[' : ',';
      append_json_string(out_, f.aliases[i]);
    }
    out_ += ']';
  }
  text("path", listing.modules[f.module].path());
  if (const std::string id = listing.modules[f.module].file().build_id(); !id.empty()) text("build_id", id);
}

}  // namespace

std::string_view step_name(PatchStep step) {
  switch (step) {
    case PatchStep::kNop5:
      return "nop5";
    case PatchStep::kInstruction:
      return "insn";
    case PatchStep::kWindow:
      return "window";
    case PatchStep::kRefused:
      break;
  }
  return "refused";
}

std::string list_table(const Listing& listing, const ListStyle& style) {
  return TableWriter(listing, style).run();
}

std::string list_json(const Listing& listing, bool details) {
  JsonWriter writer(details);
  for (const ListedFunction& f : listing.functions) writer.append(listing, f);
  return writer.take();
}

std::string list_summary(const Listing& listing) {
  const auto refused = static_cast<size_t>(
      std::count_if(listing.functions.begin(), listing.functions.end(),
                    [](const ListedFunction& f) { return f.step == PatchStep::kRefused; }));
  return fmt::format("{} functions, {} can be probed, {} refused", listing.functions.size(),
                     listing.functions.size() - refused, refused);
}

}  // namespace blip::cli
