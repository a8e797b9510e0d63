// SPDX-License-Identifier: MIT
#include "session/drain/stream_sink.h"

#include <utility>

#include "abi/layout.h"

namespace blip::session {

Result<StreamSink> StreamSink::create(TraceOutput output, std::span<const Row> rows, int32_t vpid) {
  StreamSink sink(std::move(output));
  for (const Row& row : rows) {
    TRY(RingOutput made,
        RingOutput::create(*sink.trace_, static_cast<uint32_t>(sink.rows_.size()), row.name, row.cpu, vpid));
    sink.rows_.push_back(std::move(made));
  }
  return sink;
}

void StreamSink::add_classes(const std::vector<ctf::EventClass>& all) {
  pid_in_event_.resize(all.size() + abi::kFirstClass);
  for (const ctf::EventClass& c : all)
    pid_in_event_[c.id] = {c.leads_with_pid && !c.fields.front().is_implicit, c.leads_with_pid};
}

void StreamSink::flush(RingOutput& row, bool all) {
  const Status status = row.flush(all);
  if (!status && !error_) error_ = status.error();
}

StoredPackets StreamSink::store(uint32_t row) {
  flush(rows_[row], true);
  return {.own = rows_[row].own_packets(), .several = rows_[row].several_packets()};
}

void StreamSink::end_round(uint64_t) {
  for (RingOutput& row : rows_) flush(row, false);
}

void StreamSink::finish() {
  for (RingOutput& row : rows_) flush(row, true);
}

uint64_t StreamSink::lost() const {
  uint64_t lost = unwritten_;
  for (const RingOutput& row : rows_) lost += row.lost_events();
  return lost;
}

}  // namespace blip::session
