// SPDX-License-Identifier: MIT
#include "probe/arm/stops.h"

#include <fmt/core.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "probe/inject/pause_tries.h"
#include "proc/pause.h"
#include "proc/tracer_thread.h"

namespace blip::probe {

Error Stops::too_long(int tries) const {
  return proc::pause_exceeded(
      fmt::format("process {}: nothing was armed: it could not be stopped for less than --max-pause {} in {} "
                  "tries. Give a longer pause, or try again on a less busy machine",
                  process_.pid(), pause_text(*max_pause_), tries));
}

// All threads are stopped where a blip that was killed left its stub: one of them may be in it.
Status Stops::with_one(const RemoteWork& work) {
  bool all = false;
  PauseTries pauses;
  for (int i = 1;;) {
    const auto one = proc::on_tracer_thread([&] { return try_with_one(work, all); });
    const Status status = one ? one->status : Status(one.error());
    if (!status && proc::is_pause_exceeded(status.error())) {
      if (!pauses.again()) return too_long(pauses.tries());
      continue;
    }
    if (!one) return one.error();
    if (status || i++ == kStopTries) return status;
    const bool busy = status.error().kind() == ErrorKind::kBusy;
    if (one->started && !busy) return status;
    all = all || busy;
    std::this_thread::sleep_for(kBetweenTries);
  }
}

Result<Stops::RemoteTry> Stops::try_with_one(const RemoteWork& work, bool stop_all) {
  TRY(const std::vector<proc::Map> maps, proc::read_maps(process_.pid()));
  TRY(proc::StubSite stub, proc::find_stub_site(memory_, maps));
  TRY(proc::Attachment attachment, stop_all ? proc::Attachment::stop_all(process_, limits())
                                            : proc::Attachment::stop_one(process_, limits()));
  RemoteTry one;
  {
    auto caller = proc::RemoteCaller::create(attachment, memory_, std::move(stub));
    one.started = caller.has_value();
    one.status = caller ? work(attachment, *caller, maps) : Status(caller.error());
  }
  release(attachment);
  return one;
}

void Stops::release(proc::Attachment& attachment) {
  attachment.release();
  report_.paused = std::max(report_.paused, attachment.longest_stop());
  report_.last_paused = std::max(report_.last_paused, attachment.longest_stop());
}

}  // namespace blip::probe
