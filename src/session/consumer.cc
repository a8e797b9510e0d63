// SPDX-License-Identifier: MIT
#include "session/consumer.h"

#include <fmt/core.h>

#include <cstring>

#include "base/progress.h"

namespace blip::session {

namespace {

constexpr int kLastRounds = 4;
constexpr uint64_t kWatchdogNs = 100'000'000;
constexpr uint64_t kRoundsPerRefresh = 16;  // of thread names and discarded counts

}  // namespace

Consumer::Consumer(const ConsumerInput& input)
    : geometry_(input.geometry),
      region_(input.region),
      clock_(input.clock),
      now_{input.clock.clocks().counter_is_monotonic},
      limit_(input.limit) {
  record_sizes_.resize(geometry_.class_count);
  record_sizes_[abi::kProcessClass] = sizeof(abi::ProcessRecord);
  layouts_.resize(geometry_.class_count);
  for (const ctf::EventClass& c : input.classes) {
    const uint32_t pid_size = c.leads_with_pid ? ctf::kPidSize : 0;
    record_sizes_[c.id] = ctf::ring_record_size(c);
    layouts_[c.id].leads_with_pid = c.leads_with_pid;
    layouts_[c.id].fields_size = ctf::fields_size(c) - pid_size;
    for (const ctf::Field& f : c.fields)
      if (f.type == ctf::FieldType::kText16)
        layouts_[c.id].name_offset = static_cast<int32_t>(f.offset - pid_size);
    if (layouts_[c.id].name_offset >= 0 && !names_) names_.emplace(input.pid);
  }
  if (geometry_.ring_size() == 0) return;  // counting: nothing to drain
  for (uint32_t i = 0; i < geometry_.ring_count; ++i)
    rings_.emplace_back(geometry_, region_, i, record_sizes_, input.start_tsc);
  ring_pids_.assign(geometry_.ring_count, input.vpid);
  shared_.emplace(geometry_, region_, record_sizes_, input.start_tsc);
  if (now_.monotonic) shared_->set_watchdog(kWatchdogNs);
}

Status Consumer::write_to(const ctf::TraceDir& dir, const ctf::Uuid& uuid, const std::string& prefix,
                          uint64_t first_stream) {
  for (uint32_t row = 0; row <= geometry_.ring_count; ++row) {
    const bool shared = row == geometry_.ring_count;
    const std::string name = prefix + (shared ? "shared" : fmt::format("cpu{}", row));
    TRY(ctf::StreamWriter writer,
        ctf::StreamWriter::create(dir.dir_fd(), name, uuid, first_stream + row, shared ? UINT32_MAX : row));
    writers_.push_back(std::move(writer));
  }
  return {};
}

const uint8_t* Consumer::with_thread_name(const Layout& layout, const uint8_t* record, uint32_t size) {
  scratch_.assign(record, record + size);
  uint8_t* field = &scratch_[static_cast<size_t>(layout.name_offset)];
  int32_t tid;
  std::memcpy(&tid, field, sizeof tid);
  const ThreadNames::Name& name = names_->of(tid);
  std::memcpy(field, name.data(), name.size());
  return scratch_.data();
}

// Runs for every event of the trace: inlined into the readers' loops.
[[gnu::always_inline]] inline void Consumer::on_record(ctf::StreamWriter* out, uint64_t tsc,
                                                       uint16_t class_id, int32_t pid, const uint8_t* record,
                                                       uint32_t size) {
  const Layout& layout = layouts_[class_id];
  const uint64_t time_ns = clock_.to_ns(tsc);
  if (layout.name_offset >= 0) [[unlikely]]
    record = with_thread_name(layout, record, size);
  if (out && !limit_.reached()) {
    if (layout.leads_with_pid) {
      out->append_with_pid(time_ns, class_id, pid, record + abi::kHeaderSize, layout.fields_size);
    } else {
      out->append(time_ns, class_id, record + abi::kHeaderSize, layout.fields_size);
    }
    ++events_;
    ++limit_.taken;
  }
  if (live_) show(time_ns, class_id, pid, record, size);
}

// A live event has all fields where its class says.
void Consumer::show(uint64_t time_ns, uint16_t class_id, int32_t pid, const uint8_t* record, uint32_t size) {
  if (!layouts_[class_id].leads_with_pid) {
    live_->add(time_ns, class_id, record, size);
    return;
  }
  std::vector<uint8_t> whole(record, record + size);
  const auto* bytes = reinterpret_cast<const uint8_t*>(&pid);
  whole.insert(whole.begin() + abi::kHeaderSize, bytes, bytes + sizeof pid);
  whole.resize((whole.size() + 7) / 8 * 8);
  live_->add(time_ns, class_id, whole.data(), static_cast<uint32_t>(whole.size()));
}

uint64_t Consumer::drain_rings(bool last) {
  ring::DrainStats round;
  for (uint32_t i = 0; i < rings_.size(); ++i) {
    ctf::StreamWriter* out = writer(i);
    int32_t& pid = ring_pids_[i];
    const auto sink = [&](uint64_t tsc, uint16_t id, const uint8_t* record, uint32_t size) {
      if (id != abi::kProcessClass) [[likely]] {
        on_record(out, tsc, id, pid, record, size);
      } else {
        std::memcpy(&pid, record + offsetof(abi::ProcessRecord, pid), sizeof pid);
      }
    };
    round += rings_[i].drain(sink, now_);
  }
  if (shared_) {
    ctf::StreamWriter* out = writer(geometry_.ring_count);
    const auto sink = [&](uint64_t tsc, uint16_t id, const uint8_t* record, uint32_t size) {
      int32_t pid;
      std::memcpy(&pid, record + shared_->pid_offset(), sizeof pid);
      on_record(out, tsc, id, pid, record, size);
    };
    round += last ? shared_->finish(sink, now_) : shared_->drain(sink, now_);
  }
  stats_ += round;
  return round.bytes;
}

uint64_t Consumer::drain(ctf::ClockPair start) {
  if (++rounds_ % kRoundsPerRefresh == 0) {
    if (names_) names_->refresh();
    tell_discarded(start.ns);
  }
  const uint64_t bytes = drain_rings(false);
  flush(false);
  return bytes;
}

void Consumer::finish() {
  const progress::Step step("writing the rest of the trace");
  clock_.sample();
  // Each ring hands out at most one ring's worth per call; bounded, for the target may write on if it could
  // not be restored.
  for (int i = 0; i < kLastRounds && drain_rings(false) > 0; ++i) {
  }
  drain_rings(true);
  tell_discarded(clock_.sample().ns);
  flush(true);
}

void Consumer::tell_discarded(uint64_t now_ns) {
  const ring::CounterReader counters(geometry_, region_);
  for (uint32_t row = 0; row < writers_.size(); ++row) {
    uint64_t discarded = counters.row_totals(row).discarded;
    if (row == geometry_.ring_count)
      for (uint64_t n : shared_->discarded()) discarded += n;
    writers_[row].set_discarded(discarded, now_ns);
  }
}

void Consumer::flush(bool all) {
  for (ctf::StreamWriter& writer : writers_) {
    auto status = all ? writer.flush_all() : writer.flush_full();
    if (!status && !output_error_) output_error_ = status.error();
  }
}

ConsumerTotals Consumer::totals() const {
  ConsumerTotals totals{.events = events_, .malformed = stats_.malformed};
  const ring::CounterTotals counted = ring::CounterReader(geometry_, region_).totals();
  totals.discarded = counted.discarded + stats_.discarded;
  totals.skipped = counted.skipped;
  for (const ctf::StreamWriter& writer : writers_) {
    totals.events -= writer.lost_events();
    totals.discarded += writer.lost_events();
  }
  return totals;
}

}  // namespace blip::session
