// SPDX-License-Identifier: MIT
#include "cli/view_printer.h"

#include <fmt/format.h>

#include <cstdio>
#include <iterator>

#include "cli/color.h"
#include "cli/escape.h"
#include "cli/value_text.h"

namespace blip::cli {

namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

int64_t ns_of(const bt_clock_snapshot* snapshot) {
  int64_t ns = 0;
  return bt_clock_snapshot_get_ns_from_origin(snapshot, &ns) == BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK
             ? ns
             : 0;
}

std::string environment(const bt_trace* trace, const char* name) {
  const bt_value* value = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);
  if (!value) return {};
  if (bt_value_get_type(value) == BT_VALUE_TYPE_STRING) return escaped(bt_value_string_get(value));
  if (bt_value_get_type(value) == BT_VALUE_TYPE_SIGNED_INTEGER)
    return std::to_string(bt_value_integer_signed_get(value));
  return {};
}

ViewFields::Scopes scopes_of(const bt_event* event) {
  const bt_packet* packet =
      bt_stream_class_supports_packets(bt_stream_borrow_class_const(bt_event_borrow_stream_const(event)))
          ? bt_event_borrow_packet_const(event)
          : nullptr;
  return {packet ? bt_packet_borrow_context_field_const(packet) : nullptr,
          bt_event_borrow_common_context_field_const(event),
          bt_event_borrow_specific_context_field_const(event), bt_event_borrow_payload_field_const(event)};
}

// None: its stream has no clock.
std::optional<int64_t> time_of(const bt_message* message) {
  if (!bt_message_event_borrow_stream_class_default_clock_class_const(message)) return std::nullopt;
  return ns_of(bt_message_event_borrow_default_clock_snapshot_const(message));
}

}  // namespace

Result<const bt_component_sink*> ViewPrinter::add_to(bt_graph* graph) {
  const bt_component_sink* sink = nullptr;
  if (bt_graph_add_simple_sink_component(graph, "printer", nullptr, &ViewPrinter::consume, nullptr, this,
                                         &sink) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
    return Error(ErrorKind::kInvalid, "cannot print the trace: out of memory");
  return sink;
}

bt_graph_simple_sink_component_consume_func_status ViewPrinter::consume(bt_message_iterator* from,
                                                                        void* printer) {
  bt_message_array_const messages = nullptr;
  uint64_t count = 0;
  const auto status = bt_message_iterator_next(from, &messages, &count);
  if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
    return static_cast<bt_graph_simple_sink_component_consume_func_status>(status);
  for (uint64_t i = 0; i < count; ++i) {
    static_cast<ViewPrinter*>(printer)->print(messages[i]);
    bt_message_put_ref(messages[i]);
  }
  return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

void ViewPrinter::print(const bt_message* message) {
  switch (bt_message_get_type(message)) {
    case BT_MESSAGE_TYPE_EVENT:
      return print_event(message);
    case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
      return print_discarded(message);
    default:
      return;
  }
}

void ViewPrinter::print_event(const bt_message* message) {
  const bt_event* event = bt_message_event_borrow_event_const(message);
  if (modules_.take(event)) return;
  const ViewFields::Scopes scopes = scopes_of(event);
  line_.clear();
  if (json_) {
    fields_.append_json(line_, event, scopes, time_of(message), &namer_);
  } else {
    append_text(message, scopes);
  }
  std::fwrite(line_.data(), 1, line_.size(), stdout);
}

void ViewPrinter::append_text(const bt_message* message, const ViewFields::Scopes& scopes) {
  const bt_event* event = bt_message_event_borrow_event_const(message);
  append_time(message);
  append_program(bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event)));
  if (color_) line_ += kNameColor;
  append_escaped(line_, name_of(event));
  if (color_) line_ += kPlain;
  append_fields(scopes);
  line_ += '\n';
  if (fields_.backtrace()) fields_.backtrace()->append_text(line_, &namer_);
}

// Where many places share a class, that of the place.
std::string ViewPrinter::name_of(const bt_event* event) const {
  constexpr std::string_view kReturn = ":return";
  const char* text = bt_event_class_get_name(bt_event_borrow_class_const(event));
  const std::string name = text ? text : "<unknown>";
  std::string place = modules_.place_of(event);
  if (place.empty()) return name;
  if (name.ends_with(kReturn) && !place.ends_with(kReturn)) place += kReturn;
  return place;
}

void ViewPrinter::append_fields(const ViewFields::Scopes& scopes) {
  fields_.begin(scopes.payload);
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
  uint64_t count = 0;
  const bool known =
      bt_message_discarded_events_get_count(message, &count) == BT_PROPERTY_AVAILABILITY_AVAILABLE;
  std::string line = "WARNING: Tracer discarded ";
  line += known ? fmt::format("{} event{}", count, count == 1 ? "" : "s") : "a number of events";
  if (bt_message_discarded_events_borrow_stream_class_default_clock_class_const(message)) {
    line += " between ";
    append_clock(line,
                 ns_of(bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(message)));
    line += " and ";
    append_clock(line, ns_of(bt_message_discarded_events_borrow_end_default_clock_snapshot_const(message)));
  }
  if (const char* stream = bt_stream_get_name(bt_message_discarded_events_borrow_stream_const(message)))
    line += " within stream \"" + escaped(stream) + '"';
  line += ".\n";
  std::fflush(stdout);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace blip::cli
