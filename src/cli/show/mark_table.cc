// SPDX-License-Identifier: MIT
#include "cli/show/mark_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "cli/output/color.h"
#include "cli/output/escape.h"
#include "cli/output/json_text.h"
#include "cli/show/event_json.h"

namespace blip::cli {
namespace {

using session::ListedArgument;
using session::ListedMark;
using session::MarkListing;
using session::PatchStep;

std::string signature(const ListedMark& mark) {
  std::string text = mark.provider + ':' + mark.name + '(';
  for (const ListedArgument& a : mark.arguments) {
    if (&a != mark.arguments.data()) text += ", ";
    text += a.type + ' ' + a.name;
  }
  return text + ')';
}

class MarkWriter {
  auto end() { return std::back_inserter(out_); }
  void color(const char* code) {
    if (style_.color) out_ += code;
  }

 public:
  MarkWriter(const MarkListing& listing, const ListStyle& style) : listing_(listing), style_(style) {
    for (const probe::Module& m : listing.modules) modules_.push_back(escaped(m.basename()));
    for (const ListedMark& mark : listing.marks) {
      module_width_ = std::max(module_width_, modules_[mark.module].size());
      patch_width_ = std::max(patch_width_, step_name(mark.step).size());
    }
  }

  std::string run() {
    if (style_.header) {
      color(kBold);
      fmt::format_to(end(), "{:<14}  {:<{}}  {:<{}}  NAME", "ADDRESS", "PATCH", patch_width_, "MODULE",
                     module_width_);
      color(kPlain);
      out_ += '\n';
    }
    for (const ListedMark& mark : listing_.marks) append(mark);
    return std::move(out_);
  }

 private:
  void append(const ListedMark& mark) {
    fmt::format_to(end(), "{:#014x}  {:<{}}  {:<{}}  ", mark.address, step_name(mark.step), patch_width_,
                   modules_[mark.module], module_width_);
    color(kNameColor);
    append_escaped(out_, signature(mark));
    color(kPlain);
    if (mark.step == PatchStep::kRefused) {
      out_ += "  # ";
      append_escaped(out_, mark.refusal);
    }
    out_ += '\n';
    if (style_.details) append_details(mark);
  }

  void append_details(const ListedMark& mark) {
    size_t types = 0, places = 0;
    for (const ListedArgument& a : mark.arguments) {
      types = std::max(types, a.type.size());
      places = std::max(places, a.place.size());
    }
    for (const ListedArgument& a : mark.arguments) {
      fmt::format_to(end(), "      {:<5}  {:<{}}  {:<{}}  ", a.name, a.type, types, a.place, places);
      append_escaped(out_, a.operand);
      out_ += '\n';
    }
    if (!mark.semaphore) return;
    fmt::format_to(end(), "      semaphore at {:#x}", *mark.semaphore);
    if (mark.listeners) fmt::format_to(end(), ", now {}", *mark.listeners);
    out_ += '\n';
  }

  const MarkListing& listing_;
  const ListStyle& style_;
  std::vector<std::string> modules_;
  size_t module_width_ = 6;  // MODULE
  size_t patch_width_ = 7;   // refused
  std::string out_;
};

}  // namespace

std::string mark_table(const MarkListing& listing, const ListStyle& style) {
  return MarkWriter(listing, style).run();
}

std::string mark_json(const MarkListing& listing) {
  static const std::string begin = json_begin("mark");
  std::string out;
  for (const ListedMark& mark : listing.marks) {
    JsonText json(out);
    out += begin;
    json.text("name", mark.provider + ':' + mark.name);
    json.number("address", mark.address);
    json.text("module", listing.modules[mark.module].basename());
    const bool refused = mark.step == PatchStep::kRefused;
    json.text("patch", refused ? "none" : "jump");
    refused ? json.text("refused", mark.refusal) : json.text("step", step_name(mark.step));
    if (mark.semaphore) json.number("semaphore", *mark.semaphore);
    if (mark.listeners) json.number("listeners", *mark.listeners);
    json.objects("arguments", mark.arguments, [&](const ListedArgument& a) {
      json.text("name", a.name);
      json.text("type", a.type);
      json.text("place", a.place);
      json.text("operand", a.operand);
    });
    out += "}\n";
  }
  return out;
}

std::string mark_summary(const MarkListing& listing) {
  std::set<std::tuple<size_t, std::string, std::string>> names;
  size_t refused = 0;
  for (const ListedMark& mark : listing.marks) {
    names.emplace(mark.module, mark.provider, mark.name);
    refused += mark.step == PatchStep::kRefused ? 1 : 0;
  }
  const size_t places = listing.marks.size();
  return fmt::format("{} {} of {} {}, {} can be probed, {} refused", places, places == 1 ? "place" : "places",
                     names.size(), names.size() == 1 ? "mark" : "marks", places - refused, refused);
}

}  // namespace blip::cli
