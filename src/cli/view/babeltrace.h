// SPDX-License-Identifier: MIT
// The functions of libbabeltrace2 that `blip view` calls. The library, with all that it needs, is loaded when
// a trace is read and not when blip starts: nothing else in blip uses it.
#pragma once

#include <babeltrace2/babeltrace.h>

#include "base/result.h"

// clang-format off
#define BLIP_BABELTRACE_FUNCTIONS(X) \
  X(clock_snapshot_get_ns_from_origin) \
  X(component_filter_borrow_input_port_by_index_const) \
  X(component_filter_borrow_output_port_by_index_const) \
  X(component_filter_get_input_port_count) \
  X(component_sink_borrow_input_port_by_index_const) \
  X(component_source_borrow_output_port_by_index_const) \
  X(component_source_get_output_port_count) \
  X(current_thread_take_error) \
  X(error_borrow_cause_by_index) \
  X(error_cause_get_message) \
  X(error_get_cause_count) \
  X(error_release) \
  X(event_borrow_class_const) \
  X(event_borrow_common_context_field_const) \
  X(event_borrow_packet_const) \
  X(event_borrow_payload_field_const) \
  X(event_borrow_specific_context_field_const) \
  X(event_borrow_stream_const) \
  X(event_class_get_emf_uri) \
  X(event_class_get_id) \
  X(event_class_get_name) \
  X(field_array_borrow_element_field_by_index_const) \
  X(field_array_get_length) \
  X(field_bool_get_value) \
  X(field_borrow_class_const) \
  X(field_class_enumeration_get_mapping_count) \
  X(field_class_enumeration_mapping_get_label) \
  X(field_class_enumeration_unsigned_borrow_mapping_by_index_const) \
  X(field_class_enumeration_unsigned_mapping_borrow_ranges_const) \
  X(field_class_integer_get_field_value_range) \
  X(field_class_integer_get_preferred_display_base) \
  X(field_class_structure_borrow_member_by_index_const) \
  X(field_class_structure_get_member_count) \
  X(field_class_structure_member_get_name) \
  X(field_enumeration_signed_get_mapping_labels) \
  X(field_enumeration_unsigned_get_mapping_labels) \
  X(field_get_class_type) \
  X(field_integer_signed_get_value) \
  X(field_integer_unsigned_get_value) \
  X(field_real_double_precision_get_value) \
  X(field_real_single_precision_get_value) \
  X(field_string_get_value) \
  X(field_structure_borrow_member_field_by_index_const) \
  X(field_structure_borrow_member_field_by_name_const) \
  X(field_variant_borrow_selected_option_field_const) \
  X(graph_add_filter_component) \
  X(graph_add_interrupter) \
  X(graph_add_simple_sink_component) \
  X(graph_add_source_component) \
  X(graph_connect_ports) \
  X(graph_create) \
  X(graph_put_ref) \
  X(graph_run) \
  X(integer_range_set_unsigned_borrow_range_by_index_const) \
  X(integer_range_unsigned_get_lower) \
  X(interrupter_create) \
  X(interrupter_is_set) \
  X(interrupter_put_ref) \
  X(interrupter_set) \
  X(message_discarded_events_borrow_beginning_default_clock_snapshot_const) \
  X(message_discarded_events_borrow_end_default_clock_snapshot_const) \
  X(message_discarded_events_borrow_stream_class_default_clock_class_const) \
  X(message_discarded_events_borrow_stream_const) \
  X(message_discarded_events_get_count) \
  X(message_event_borrow_default_clock_snapshot_const) \
  X(message_event_borrow_event_const) \
  X(message_event_borrow_stream_class_default_clock_class_const) \
  X(message_get_type) \
  X(message_iterator_next) \
  X(message_put_ref) \
  X(packet_borrow_context_field_const) \
  X(plugin_borrow_filter_component_class_by_name_const) \
  X(plugin_borrow_source_component_class_by_name_const) \
  X(plugin_find) \
  X(plugin_put_ref) \
  X(stream_borrow_class_const) \
  X(stream_borrow_trace_const) \
  X(stream_class_supports_packets) \
  X(stream_get_name) \
  X(trace_borrow_environment_entry_value_by_name_const) \
  X(value_array_append_string_element) \
  X(value_get_type) \
  X(value_integer_signed_get) \
  X(value_map_create) \
  X(value_map_insert_empty_array_entry) \
  X(value_put_ref) \
  X(value_string_get)
// clang-format on

namespace blip::cli::bt {

// Loads the library. Before it has succeeded, none of the functions below may be called. An error says what
// to install.
Status load();

// bt::NAME is the library's bt_NAME.
#define X(name) extern decltype(&::bt_##name) name;
BLIP_BABELTRACE_FUNCTIONS(X)
#undef X

}  // namespace blip::cli::bt
