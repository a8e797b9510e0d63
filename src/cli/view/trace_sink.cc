// SPDX-License-Identifier: MIT
#include "cli/view/trace_sink.h"

#include "cli/view/babeltrace.h"
#include "session/process/statedump.h"

namespace blip::cli {

Result<const bt_component_sink*> TraceSink::add_to(bt_graph* graph) {
  const bt_component_sink* sink = nullptr;
  if (bt::graph_add_simple_sink_component(graph, "sink", nullptr, &TraceSink::consume, nullptr, this,
                                          &sink) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
    return Error(ErrorKind::kInvalid, "cannot read the trace: out of memory");
  return sink;
}

bt_graph_simple_sink_component_consume_func_status TraceSink::consume(bt_message_iterator* from, void* sink) {
  bt_message_array_const messages = nullptr;
  uint64_t count = 0;
  const auto status = bt::message_iterator_next(from, &messages, &count);
  if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
    return static_cast<bt_graph_simple_sink_component_consume_func_status>(status);
  bool wants_more = true;
  for (uint64_t i = 0; i < count; ++i) {
    wants_more = wants_more && static_cast<TraceSink*>(sink)->take(messages[i]);
    bt::message_put_ref(messages[i]);
  }
  return wants_more ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK
                    : BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
}

int64_t ns_of(const bt_clock_snapshot* snapshot) {
  int64_t ns = 0;
  return bt::clock_snapshot_get_ns_from_origin(snapshot, &ns) ==
                 BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK
             ? ns
             : 0;
}

std::optional<int64_t> time_of(const bt_message* event) {
  if (!bt::message_event_borrow_stream_class_default_clock_class_const(event)) return std::nullopt;
  return ns_of(bt::message_event_borrow_default_clock_snapshot_const(event));
}

bool SpanFinder::take(const bt_message* message) {
  if (bt::message_get_type(message) != BT_MESSAGE_TYPE_EVENT) return true;
  const bt_event_class* kind = bt::event_borrow_class_const(bt::message_event_borrow_event_const(message));
  const char* name = bt::event_class_get_name(kind);
  const auto ns = time_of(message);
  if (!ns || (name && session::is_statedump(name))) return true;
  if (!span_) span_ = TraceSpan{*ns, *ns};
  span_->end_ns = *ns;
  return true;
}

}  // namespace blip::cli
