// SPDX-License-Identifier: MIT
// Two goals with different urgency. The text is restored in the first stop, whatever the threads do: pads
// jump back into original code. The memory goes in the first stop that finds nobody inside: no PC, no signal
// frame's PC, no rseq_cs. Pads hardly ever wait (ring/readers.h), so that is the first or second try, unless
// a signal handler on top of a pad blocks.
#include "probe/inject/removal.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "base/progress.h"
#include "probe/inject/left_region.h"
#include "probe/inject/parked_code.h"
#include "probe/inject/pause_tries.h"
#include "probe/inject/semaphores.h"
#include "probe/inject/text_removal.h"
#include "probe/inject/threads.h"
#include "probe/inject/trap_action.h"
#include "probe/inject/who_is_inside.h"
#include "proc/attachment.h"
#include "proc/files/status.h"
#include "proc/pause.h"
#include "proc/remote_call.h"
#include "proc/tracer_thread.h"

namespace blip::probe {

namespace {

constexpr int kTries = 16;
constexpr std::chrono::microseconds kFirstPause{50};  // doubled each time up to:
constexpr std::chrono::microseconds kLongestPause{50'000};
constexpr std::chrono::seconds kPatience{10};

bool holds_foreign(AddrRange range, std::span<const proc::Map> maps, bool (*is_ours)(const proc::Map&)) {
  auto it = std::upper_bound(maps.begin(), maps.end(), range.begin,
                             [](TargetAddr a, const proc::Map& m) { return a < m.range.end; });
  for (; it != maps.end() && it->range.begin < range.end; ++it)
    if (!is_ours(*it)) return true;
  return false;
}

// What the target has since put into the place of blip's memory is not blip's to take away.
Footprint still_ours(Footprint footprint, std::span<const proc::Map> maps) {
  std::erase_if(footprint.areas,
                [&](const AddrRange& area) { return holds_foreign(area, maps, is_pad_memory); });
  const AddrRange data{footprint.control, footprint.control + footprint.data_size};
  if (holds_foreign(data, maps, is_data_memory)) footprint.data_size = 0;
  return footprint;
}

class Remover {
 public:
  Remover(const proc::Process& process, proc::Memory& memory, const Footprint& footprint,
          const PatchTable& table, std::span<const PatchTable> retired, const RemovalSteps& steps,
          std::optional<std::chrono::nanoseconds> max_pause)
      : process_(process),
        memory_(memory),
        footprint_(footprint),
        text_(memory, footprint, table, retired),
        steps_(steps),
        max_pause_(max_pause) {}

  Result<RemovalReport> run() {
    const progress::Step step(fmt::format("taking the probes out of process {}", process_.pid()));
    auto pause = kFirstPause;
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    const auto goes_on = [&] {
      return about_to_leave_ && std::chrono::steady_clock::now() < deadline && !is_stopped();
    };
    for (int i = 0; i < kTries || goes_on(); ++i) {
      TRY(const bool removed, try_in_short_stops());
      if (removed) return std::move(report_);
      if (gave_up_) break;
      if (give_back_ == GiveBack::kDue) {
        steps_.give_back();
        give_back_ = GiveBack::kDone;
        continue;
      }
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kLongestPause);
    }
    report_.kept = true;
    report_.kept_reason = obstacle_;
    return std::move(report_);
  }

 private:
  enum class GiveBack { kNotYet, kDue, kDone };

  // One try, in as many stops as --max-pause makes of it. What must not stay is done in the end whatever it
  // takes.
  Result<bool> try_in_short_stops() {
    PauseTries pauses;
    for (;;) {
      const size_t before = undone_;
      auto removed = try_patiently();
      const bool late = removed ? time_was_up_ : proc::is_pause_exceeded(removed.error());
      if (!late) return removed;
      if (undone_ < before) pauses.got_on();
      if (pauses.again()) continue;
      obstacle_ = fmt::format("no stop was short enough for --max-pause {}, {} tries",
                              pause_text(*max_pause_), pauses.tries());
      gave_up_ = undone_ == 0;
      if (gave_up_) return false;
      report_.over_limit = pauses.tries();
      max_pause_.reset();
      return try_patiently();
    }
  }

  // Another tracer, or a vfork that lasts, may hold the target for a while: leaving it patched would be worse
  // than waiting.
  Result<bool> try_patiently() {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
      auto removed = proc::on_tracer_thread([&] { return try_once(); });
      const bool held =
          !removed && !proc::is_pause_exceeded(removed.error()) &&
          (removed.error().kind() == ErrorKind::kBusy || removed.error().kind() == ErrorKind::kTimeout);
      if (!held || std::chrono::steady_clock::now() > deadline) return removed;
      std::this_thread::sleep_for(kLongestPause);
    }
  }

  Result<bool> try_once() {
    time_was_up_ = false;
    TRY(proc::Attachment attachment, proc::Attachment::stop_all(process_, {.pause = max_pause_}));
    memory_.set_fallback_tid(attachment.threads().front().tid);
    auto removed = with_all_stopped(attachment);
    memory_.set_fallback_tid(0);
    attachment.release();
    report_.paused = std::max(report_.paused, attachment.longest_stop());
    return removed;
  }

  Result<bool> with_all_stopped(proc::Attachment& attachment) {
    if (memory_.mm_gone())
      return Error(ErrorKind::kGone, fmt::format("process {} called exec", process_.pid()));
    TRY(const std::vector<proc::Map> maps, proc::read_maps(process_.pid()));
    StoppedCode code(attachment, memory_, maps);
    const bool parks = may_park_code(footprint_.parking, attachment, memory_, maps);
    const TimeIsUp time_is_up = [&] { return attachment.must_let_go(); };
    TRY_OK(text_.leave_springboards(code, parks, time_is_up));
    void_ranges();
    TRY(const size_t unbalanced, Semaphores(memory_, footprint_.semaphores()).lower(maps));
    report_.unbalanced += unbalanced;
    TRY(const TextRemoval::Outcome text, text_.restore(max_pause_ ? time_is_up : TimeIsUp()));
    undone_ = text.undone;
    if (undone_ != 0) return later();
    report_.foreign = text.foreign;
    if (text.may_jump) return keep("another tool changed a probed instruction and may put blip's jump back");
    if (text.is_held) {
      obstacle_ = "a signal handler interrupted a thread on its way to a probe";
      return false;
    }
    TRY_OK(text_.move_threads_out(attachment));
    const CodePlaces pads = pads_of(footprint_, code);
    std::optional<Inside> inside = who_is_inside(code, pads);
    if (const auto trapped = inside ? std::nullopt : text_.find_trapped(attachment))
      inside = Inside{*trapped};
    if (inside) {
      obstacle_ = fmt::format("thread {} is still inside a probe", inside->tid);
      about_to_leave_ = !inside->returns;
      return false;
    }
    about_to_leave_ = false;
    if (attachment.must_let_go()) return later();
    if (parks) {
      TRY(const std::string reason, parked_inside(maps, pads, time_is_up));
      if (!reason.empty()) return keep(reason);
    }
    if (steps_.give_back && give_back_ == GiveBack::kNotYet) {
      give_back_ = GiveBack::kDue;
      return false;
    }
    TRY_OK(forget_descriptors(attachment, memory_, footprint_));
    TRY_OK(text_.restore_hooks());
    if (steps_.before_unmap) TRY_OK(steps_.before_unmap());
    if (attachment.must_let_go()) return later();
    auto unmapped = unmap(attachment, maps);
    if (unmapped) return true;
    if (unmapped.error().kind() == ErrorKind::kPermission) return keep(unmapped.error().message());
    if (unmapped.error().kind() == ErrorKind::kGone) return unmapped.error();
    // The text is restored; a thread that cannot be used now (no room on its stack) may be usable later.
    obstacle_ = unmapped.error().message();
    return false;
  }

  Result<bool> later() {
    time_was_up_ = true;
    return false;
  }

  // Before calls that take memory away are as they were: threads that are still in pads may no longer read by
  // what was published. All are stopped, so nobody is in a section. What cannot be written is not there.
  void void_ranges() {
    const TargetAddr header = footprint_.control;
    const auto area = memory_.read_value<abi::Area>(header + abi::area_entry_offset(abi::AreaId::kRanges));
    if (!area || area->id != abi::AreaId::kRanges || area->offset > footprint_.data_size ||
        footprint_.data_size - area->offset < sizeof(abi::RangeControl))
      return;
    const TargetAddr ranges = header + area->offset;
    const auto word = memory_.read_value<uint64_t>(ranges + offsetof(abi::RangeControl, word));
    if (!word) return;
    const auto bytes = [](const uint32_t& n) {
      return std::span(reinterpret_cast<const uint8_t*>(&n), sizeof n);
    };
    const uint32_t none = 0, next = abi::range_publication(*word) + 1;
    for (uint64_t i = 0; i < abi::kRangeTables; ++i) {
      const uint64_t table = offsetof(abi::RangeControl, tables) + i * sizeof(abi::RangeTable);
      (void)memory_.write(ranges + table + offsetof(abi::RangeTable, count), bytes(none));
    }
    (void)memory_.write(ranges + offsetof(abi::RangeControl, word), bytes(next));
  }

  Status unmap(proc::Attachment& attachment, const std::vector<proc::Map>& maps) {
    TRY(proc::StubSite stub, proc::find_stub_site(memory_, maps));
    TRY(proc::RemoteCaller caller, proc::RemoteCaller::create(attachment, memory_, std::move(stub)));
    if (caller.restricted())  // a filter that came after blip: munmap might be what it kills for
      return Error(ErrorKind::kPermission,
                   "it filters its system calls (seccomp): `blip clean` as root helps");
    // The others need not wait until this one gets a CPU.
    if (max_pause_) attachment.release_others(caller.tid());
    TRY_OK(restore_trap_action(caller, memory_, footprint_));
    return unmap_footprint(caller, still_ours(footprint_, maps), maps);
  }

  // By SIGSTOP, say: its threads do not run when they are let go.
  bool is_stopped() const {
    const auto stat = proc::read_stat(process_.pid(), process_.pid());
    return stat && stat->state == 'T';
  }

  bool keep(std::string reason) {
    report_.kept = true;
    report_.kept_reason = std::move(reason);
    return true;
  }

  // Fibers that do not run may have been interrupted inside the pads. Waiting would not help: who knows when
  // they go on.
  Result<std::string> parked_inside(const std::vector<proc::Map>& maps, const CodePlaces& pads,
                                    const TimeIsUp& time_is_up) {
    std::vector<AddrRange> places = footprint_.areas;
    for (const proc::Map& map : maps)
      if (map.path == "[vdso]") places.push_back(map.range);
    TRY(const ParkedCode parked,
        find_parked_code(memory_, maps, merge_ranges(std::move(places)), time_is_up));
    if (parked.unknown)
      return std::string(
          "the program switches stacks by itself, and has too much memory to look for code that waits");
    return any_inside(parked.found, pads)
               ? std::string("a fiber, or what looks like one, was interrupted inside a probe")
               : std::string();
  }

  const proc::Process& process_;
  proc::Memory& memory_;
  const Footprint& footprint_;
  TextRemoval text_;
  const RemovalSteps& steps_;
  GiveBack give_back_ = GiveBack::kNotYet;
  RemovalReport report_;
  std::optional<std::chrono::nanoseconds> max_pause_;
  bool gave_up_ = false;  // the text is restored, and nothing else is worth a long stop
  bool time_was_up_ = false;
  size_t undone_ = SIZE_MAX;  // edits that are still in the text
  std::string obstacle_;
  bool about_to_leave_ = false;  // a thread is in a pad and needs no more than to run: on a busy machine that
                                 // may take long
};

}  // namespace

Result<RemovalReport> remove_instrumentation(const proc::Process& process, proc::Memory& memory,
                                             const Footprint& footprint, const PatchTable& table,
                                             std::span<const PatchTable> retired, const RemovalSteps& steps,
                                             std::optional<std::chrono::nanoseconds> max_pause) {
  return proc::on_tracer_thread(
      [&] { return Remover(process, memory, footprint, table, retired, steps, max_pause).run(); });
}

}  // namespace blip::probe
