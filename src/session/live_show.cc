// SPDX-License-Identifier: MIT
#include "session/live_show.h"

#include <memory>
#include <utility>

#include "session/drain/live_sink.h"

namespace blip::session {

namespace {

// Processes may have different code at one address: then none is the answer.
template <typename Ask>
std::string the_one(const Roster::Processes& processes, Ask ask) {
  std::string answer;
  for (const auto& process : processes) {
    std::string here = ask(*process);
    if (here.empty() || here == answer) continue;
    if (!answer.empty()) return {};
    answer = std::move(here);
  }
  return answer;
}

}  // namespace

LiveShow::LiveShow(ShowEvent sink, std::function<bool()> is_full, TraceContext& context,
                   const Roster::Processes& live)
    : limit_(context.limit),
      live_(live),
      merge_(
          std::move(sink), context.classes.classes(), [this](uint64_t ip) { return place_of(ip); },
          [this](int32_t vpid, uint64_t address, bool is_return) -> const std::vector<NamedFrame>& {
            return frames_of(vpid, address, is_return);
          },
          [this](const ctf::EventClass& c, uint64_t ip) { return event_name(c, ip); }) {
  merge_.stop_when(std::move(is_full));
}

void LiveShow::add(TracedProcess& process) { process.events().add_sink(std::make_unique<LiveSink>(merge_)); }

void LiveShow::show() { limit_.taken += merge_.show(limit_.most - limit_.taken); }

uint64_t LiveShow::show_rest() {
  limit_.taken += merge_.show_all(limit_.most - limit_.taken);
  return limit_.taken + merge_.own_shown();
}

std::string LiveShow::place_of(uint64_t ip) const {
  return the_one(live_, [&](const TracedProcess& p) { return p.place_of(TargetAddr(ip)); });
}

std::string LiveShow::event_name(const ctf::EventClass& event_class, uint64_t ip) const {
  std::string place =
      the_one(live_, [&](const TracedProcess& p) { return p.names().places().at(event_class.id, ip); });
  return place.empty() ? place : event_name_at(event_class.name, std::move(place));
}

// A child that was forked has what its parent has.
const std::vector<NamedFrame>& LiveShow::frames_of(int32_t vpid, uint64_t address, bool is_return) const {
  static const std::vector<NamedFrame> unknown(1);
  const auto names_hold = [&](const TracedProcess& process) {
    return process.names().names_hold(address, merge_.showing_ns());
  };
  for (const auto& process : live_)
    if (process->process().ns_pid() == vpid)
      return names_hold(*process) ? process->frame_names().of(address, is_return) : unknown;
  for (const auto& process : live_)
    if (process->frame_names().has(address) && names_hold(*process))
      return process->frame_names().of(address, is_return);
  return unknown;
}

}  // namespace blip::session
