// SPDX-License-Identifier: MIT
#include "session/plan/requests.h"

#include <algorithm>

#include "session/plan/contexts.h"
#include "session/plan/purpose.h"

namespace blip::session {

bool asks_for_data(const ProbeRequest& request) {
  return !request.data.condition.empty() || shows_data(request);
}

bool shows_data(const ProbeRequest& request) {
  return request.wanted || request.data.args || request.data.locals || !request.data.captures.empty() ||
         std::any_of(request.contexts.begin(), request.contexts.end(),
                     [](const Context& c) { return c.row->kind == ContextKind::kMemory; });
}

bool asks_for_stack(const ProbeRequest& request) {
  return std::any_of(request.contexts.begin(), request.contexts.end(),
                     [](const Context& c) { return c.row->has_stack(); });
}

// It does no harm to believe it.
bool asks_for_entry(const ProbeRequest& request) {
  const auto may_ask = [](const std::string& text) { return text.find("entry") != std::string::npos; };
  const DataRequest& data = request.data;
  return request.kind == ProbeKind::kReturn &&
         (request.wanted || data.args || may_ask(data.condition) ||
          std::any_of(data.captures.begin(), data.captures.end(), may_ask));
}

bool asks_for_returns(const ProbeRequest& request) { return request.kind == ProbeKind::kReturn; }

bool asks_for_marks(const ProbeRequest& request) { return request.kind == ProbeKind::kMark; }

bool any_asks(const Options& options, bool (*asks)(const ProbeRequest&)) {
  return std::any_of(options.probes.begin(), options.probes.end(), asks);
}

bool asks_for_threads(const Options& options) {
  if (!makes_events(options)) return false;
  if (stores_tid(options)) return true;
  return any_asks(options, [](const ProbeRequest& r) {
    return std::any_of(r.contexts.begin(), r.contexts.end(),
                       [](const Context& c) { return c.row->tells_thread(); });
  });
}

bool walks_stacks(const Options& options) {
  return makes_events(options) && options.backend != Backend::kUprobe && any_asks(options, asks_for_stack);
}

}  // namespace blip::session
