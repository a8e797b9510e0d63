// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "probe/arm/arm_report.h"
#include "proc/attachment.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"
#include "proc/remote_call.h"

namespace blip::probe {

// How often something is tried again that somebody was in the way of, and how long afterwards.
inline constexpr int kStopTries = 6;
inline constexpr std::chrono::milliseconds kBetweenTries{2};

// The stops in which a trace changes its target. Each ends with the work that it was for; the report gets to
// know how long threads stood still.
class Stops {
 public:
  // `max_pause`: no stop may be longer.
  Stops(const proc::Process& process, proc::Memory& memory, std::optional<std::chrono::nanoseconds> max_pause,
        ArmReport& report)
      : process_(process), memory_(memory), max_pause_(max_pause), report_(report) {}

  const std::optional<std::chrono::nanoseconds>& max_pause() const { return max_pause_; }
  // From now on a stop may take as long as it needs.
  void lift_limit() { max_pause_.reset(); }
  // Nothing came of so many tries that kept the limit.
  Error too_long(int tries) const;

  // Stops all threads for `work`, which takes the attachment and returns a Result.
  template <class Work>
  auto with_all(Work&& work) -> decltype(work(std::declval<proc::Attachment&>())) {
    TRY(proc::Attachment attachment, proc::Attachment::stop_all(process_, limits()));
    memory_.set_fallback_tid(attachment.threads().front().tid);
    auto done = work(attachment);
    memory_.set_fallback_tid(0);
    release(attachment);
    return done;
  }

  // With what was mapped before the stop.
  using RemoteWork =
      std::function<Status(proc::Attachment&, proc::RemoteCaller&, std::span<const proc::Map>)>;
  // Stops one thread and runs `work` with it; another try if the thread was caught at a bad moment.
  Status with_one(const RemoteWork& work);

 private:
  struct RemoteTry {
    bool started = false;  // a thread could be used
    Status status;
  };

  proc::StopLimits limits() const { return {.pause = max_pause_}; }
  Result<RemoteTry> try_with_one(const RemoteWork& work, bool stop_all);
  void release(proc::Attachment& attachment);

  const proc::Process& process_;
  proc::Memory& memory_;
  std::optional<std::chrono::nanoseconds> max_pause_;
  ArmReport& report_;
};

}  // namespace blip::probe
