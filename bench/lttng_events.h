// SPDX-License-Identifier: MIT
// LTTng reads this file several times: no include guard of the usual kind.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER blip_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_events.h"

#if !defined(BLIP_BENCH_LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BLIP_BENCH_LTTNG_EVENTS_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT_CLASS(blip_bench, one_int, LTTNG_UST_TP_ARGS(int, value),
                                 LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, value, value)))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blip_bench, one_int, blip_bench, work, LTTNG_UST_TP_ARGS(int, value))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blip_bench, one_int, blip_bench, work_context,
                                    LTTNG_UST_TP_ARGS(int, value))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blip_bench, one_int, blip_bench, work_snapshot,
                                    LTTNG_UST_TP_ARGS(int, value))
LTTNG_UST_TRACEPOINT_EVENT(blip_bench, work_string, LTTNG_UST_TP_ARGS(int, value, const char*, text),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, value, value)
                                                   lttng_ust_field_string(text, text)))

#endif

#include <lttng/tracepoint-event.h>
