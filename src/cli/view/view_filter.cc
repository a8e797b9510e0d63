// SPDX-License-Identifier: MIT
#include "cli/view/view_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "elf/demangle.h"
#include "elf/match.h"

namespace blip::cli {
namespace {

std::string_view without_suffix(std::string_view text, std::string_view suffix) {
  return text.ends_with(suffix) ? text.substr(0, text.size() - suffix.size()) : text;
}

// "f (inlined in g)" -> "f"
std::string_view without_caller(std::string_view name) {
  return name.ends_with(')') ? name.substr(0, name.find(" (inlined in ")) : name;
}

// "f+0x12" -> "f"
std::string_view without_offset(std::string_view name) {
  const size_t plus = name.rfind("+0x");
  if (plus == std::string_view::npos || plus == 0) return name;
  const std::string_view digits = name.substr(plus + 3);
  const bool is_offset =
      !digits.empty() && digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_offset ? name.substr(0, plus) : name;
}

}  // namespace

bool event_is_of(std::string_view name, std::string_view wanted) {
  const std::string_view call = without_suffix(name, ":return");
  const std::string_view own = without_caller(call);
  const std::string_view function = without_offset(own);
  const std::string plain = elf::without_parameters(function);
  const bool is_glob = elf::is_glob(wanted);
  for (const std::string_view text : {name, call, own, function, std::string_view(plain)})
    if (is_glob ? elf::glob_match(wanted, text) : text == wanted) return true;
  return !is_glob && (elf::is_in_a_scope(plain, wanted) || elf::is_in_a_scope(function, wanted));
}

bool ViewFilter::is_called(std::string_view name) {
  if (selection_.functions.empty()) return true;
  const auto [known, is_new] = names_.try_emplace(std::string(name));
  if (is_new)
    known->second = std::any_of(selection_.functions.begin(), selection_.functions.end(),
                                [&](const std::string& wanted) { return event_is_of(name, wanted); });
  totals_.name_matched |= known->second;
  return known->second;
}

bool ViewFilter::is_of_thread(std::optional<int64_t> thread) {
  if (selection_.threads.empty()) return true;
  if (!thread) ++totals_.without_thread;
  return thread &&
         std::find(selection_.threads.begin(), selection_.threads.end(), *thread) != selection_.threads.end();
}

void ViewFilter::begin_at(int64_t time_ns) {
  began_ = true;
  const TraceSpan span = span_.value_or(TraceSpan{time_ns, time_ns});
  if (selection_.from) from_ns_ = selection_.from->at_ns(span);
  if (selection_.to) to_ns_ = selection_.to->at_ns(span);
}

bool ViewFilter::is_in_time(std::optional<int64_t> time_ns) {
  if (!selection_.from && !selection_.to) return true;
  if (!time_ns) return false;
  if (!began_) begin_at(*time_ns);
  if (to_ns_ && *time_ns > *to_ns_) totals_.stop = ViewTotals::Stop::kTo;
  return !stopped() && (!from_ns_ || *time_ns >= *from_ns_);
}

bool ViewFilter::shows(std::string_view name, std::optional<int64_t> thread, std::optional<int64_t> time_ns) {
  const bool is_in = is_in_time(time_ns);
  if (stopped()) return false;
  ++totals_.read;
  if (!is_called(name) || !is_in || !is_of_thread(thread)) return false;
  if (++totals_.shown == selection_.head) totals_.stop = ViewTotals::Stop::kHead;
  return true;
}

bool ViewFilter::overlaps(int64_t from_ns, int64_t to_ns) const {
  return (!from_ns_ || to_ns >= *from_ns_) && (!to_ns_ || from_ns <= *to_ns_);
}

std::string totals_line(const ViewTotals& totals) {
  const bool is_part = totals.stop != ViewTotals::Stop::kNo;
  std::string line =
      fmt::format("{} of {}{} events shown", totals.shown, is_part ? "the first " : "", totals.read);
  if (totals.stop == ViewTotals::Stop::kHead) line += "; the rest was not read (--head)";
  if (totals.stop == ViewTotals::Stop::kTo) line += "; the rest is later (--to)";
  if (totals.without_thread != 0)
    line += fmt::format("; {} do not tell their thread (--no-tid)", totals.without_thread);
  return line;
}

}  // namespace blip::cli
