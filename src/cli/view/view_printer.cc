// SPDX-License-Identifier: MIT
#include "cli/view/view_printer.h"

#include <fmt/format.h>

#include <cstdio>
#include <iterator>

#include "cli/output/color.h"
#include "cli/output/escape.h"
#include "cli/show/value_text.h"
#include "cli/view/babeltrace.h"
#include "ctf/known_fields.h"
#include "session/symbolize/place_name.h"

namespace blip::cli {

namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

std::string environment(const bt_trace* trace, const char* name) {
  const bt_value* value = bt::trace_borrow_environment_entry_value_by_name_const(trace, name);
  if (!value) return {};
  if (bt::value_get_type(value) == BT_VALUE_TYPE_STRING) return escaped(bt::value_string_get(value));
  if (bt::value_get_type(value) == BT_VALUE_TYPE_SIGNED_INTEGER)
    return std::to_string(bt::value_integer_signed_get(value));
  return {};
}

ViewFields::Scopes scopes_of(const bt_event* event) {
  const bt_packet* packet =
      bt::stream_class_supports_packets(bt::stream_borrow_class_const(bt::event_borrow_stream_const(event)))
          ? bt::event_borrow_packet_const(event)
          : nullptr;
  return {packet ? bt::packet_borrow_context_field_const(packet) : nullptr,
          bt::event_borrow_common_context_field_const(event),
          bt::event_borrow_specific_context_field_const(event), bt::event_borrow_payload_field_const(event)};
}

// The name of the event; if many places share its class, the name at its place.
std::string name_of(const bt_event* event, const std::string& place) {
  const char* text = bt::event_class_get_name(bt::event_borrow_class_const(event));
  return session::event_name_at(text ? text : "<unknown>", place);
}

std::optional<int64_t> thread_of(const ViewFields::Scopes& scopes) {
  for (const bt_field* context : {scopes.common_context, scopes.specific_context}) {
    const bt_field* thread =
        context ? bt::field_structure_borrow_member_field_by_name_const(context, ctf::kTidField) : nullptr;
    if (thread && bt::field_get_class_type(thread) == BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)
      return bt::field_integer_signed_get_value(thread);
  }
  return std::nullopt;
}

}  // namespace

bool ViewPrinter::take(const bt_message* message) {
  if (bt::message_get_type(message) == BT_MESSAGE_TYPE_EVENT) print_event(message);
  if (bt::message_get_type(message) == BT_MESSAGE_TYPE_DISCARDED_EVENTS) print_discarded(message);
  return !filter_.stopped();
}

void ViewPrinter::print_event(const bt_message* message) {
  const bt_event* event = bt::message_event_borrow_event_const(message);
  if (modules_.take(event)) return;
  const ViewFields::Scopes scopes = scopes_of(event);
  const std::string place = modules_.place_of(event);
  const std::string name = name_of(event, place);
  if (!filter_.shows(name, thread_of(scopes), time_of(message))) return;
  line_.clear();
  if (json_) {
    fields_.append_json(line_, event, scopes, {time_of(message), name, place}, &namer_);
  } else {
    append_text(message, name, scopes);
  }
  std::fwrite(line_.data(), 1, line_.size(), stdout);
}

void ViewPrinter::append_text(const bt_message* message, const std::string& name,
                              const ViewFields::Scopes& scopes) {
  const bt_event* event = bt::message_event_borrow_event_const(message);
  append_time(message);
  append_program(bt::stream_borrow_trace_const(bt::event_borrow_stream_const(event)));
  if (color_) line_ += kNameColor;
  append_escaped(line_, name);
  if (color_) line_ += kPlain;
  fields_.begin(event);
  append_fields(scopes);
  line_ += '\n';
  if (fields_.backtrace()) fields_.backtrace()->append_text(line_, &namer_);
}

void ViewPrinter::append_fields(const ViewFields::Scopes& scopes) {
  const char* lead = ": ";
  if (scopes.packet_context) {
    const size_t before = line_.size();
    line_ += lead;
    if (fields_.append_packet_context(line_, scopes.packet_context)) {
      lead = ", ";
    } else {
      line_.resize(before);
    }
  }
  for (const bt_field* scope : {scopes.common_context, scopes.specific_context, scopes.payload}) {
    if (!scope) continue;
    line_ += lead;
    fields_.append_scope(line_, scope);
    lead = ", ";
  }
}

void ViewPrinter::append_time(const bt_message* message) {
  const auto time = time_of(message);
  if (!time) return;
  const int64_t ns = *time;
  if (color_) line_ += kDim;
  append_clock(line_, ns);
  if (!have_last_) {
    line_ +=
        " (+?.????????"
        "?) ";
  } else {
    const int64_t delta = std::max(ns, last_ns_) - std::min(ns, last_ns_);
    fmt::format_to(std::back_inserter(line_), " ({}{}.{:09}) ", ns < last_ns_ ? '-' : '+',
                   delta / kNsPerSecond, delta % kNsPerSecond);
  }
  if (color_) line_ += kPlain;
  have_last_ = true;
  last_ns_ = ns;
}

void ViewPrinter::append_clock(std::string& out, int64_t ns) {
  const int64_t second = ns / kNsPerSecond;
  if (second != cached_second_) {
    const time_t when = second;
    tm local{};
    ::localtime_r(&when, &local);
    cached_clock_ = fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
    cached_second_ = second;
  }
  fmt::format_to(std::back_inserter(out), "[{}.{:09}]", cached_clock_, ns % kNsPerSecond);
}

// "HOST:PROGRAM:(PID) ", as far as it is known.
void ViewPrinter::append_program(const bt_trace* trace) {
  const std::string pid = environment(trace, "vpid");
  std::string all;
  for (const std::string& part : {environment(trace, "hostname"), environment(trace, "procname"),
                                  pid.empty() ? pid : "(" + pid + ")"}) {
    if (part.empty()) continue;
    all += all.empty() ? part : ":" + part;
  }
  if (!all.empty()) line_ += all + ' ';
}

void ViewPrinter::print_discarded(const bt_message* message) {
  const bool has_times = bt::message_discarded_events_borrow_stream_class_default_clock_class_const(message);
  const auto begin_ns = [&] {
    return ns_of(bt::message_discarded_events_borrow_beginning_default_clock_snapshot_const(message));
  };
  const auto end_ns = [&] {
    return ns_of(bt::message_discarded_events_borrow_end_default_clock_snapshot_const(message));
  };
  if (has_times && !filter_.overlaps(begin_ns(), end_ns())) return;
  uint64_t count = 0;
  const bool known =
      bt::message_discarded_events_get_count(message, &count) == BT_PROPERTY_AVAILABILITY_AVAILABLE;
  std::string line = "WARNING: Tracer discarded ";
  line += known ? fmt::format("{} event{}", count, count == 1 ? "" : "s") : "a number of events";
  if (has_times) {
    line += " between ";
    append_clock(line, begin_ns());
    line += " and ";
    append_clock(line, end_ns());
  }
  if (const char* stream = bt::stream_get_name(bt::message_discarded_events_borrow_stream_const(message)))
    line += " within stream \"" + escaped(stream) + '"';
  line += ".\n";
  std::fflush(stdout);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace blip::cli
