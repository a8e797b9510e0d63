// SPDX-License-Identifier: MIT
#include "session/drain/ring_output.h"

#include <algorithm>
#include <utility>

namespace blip::session {

namespace {

Result<std::unique_ptr<ctf::StreamWriter>> make_stream(const TraceOutput& output, const std::string& name,
                                                       const ctf::StreamInfo& info) {
  TRY(ctf::StreamWriter writer,
      ctf::StreamWriter::create(output.dir.dir_fd(), output.prefix + name, output.uuid, info));
  return std::make_unique<ctf::StreamWriter>(std::move(writer));
}

}  // namespace

Result<RingOutput> RingOutput::create(const TraceOutput& output, uint32_t number, std::string name,
                                      uint32_t cpu, int32_t vpid) {
  RingOutput ring(output, std::move(name), {output.first_stream + number * kStreamsPerRing, cpu, vpid});
  ring.vpid_ = vpid;
  TRY(ring.own_, make_stream(output, ring.name_, ring.info_));
  ring.current_ = ring.own_.get();
  return ring;
}

void RingOutput::begin_several() {
  of_several_ = true;
  current_ = nullptr;
  if (const Status status = make_several(); !status) error_ = status.error();
  current_ = several_.get();
}

Status RingOutput::make_several() {
  TRY_OK(own_->flush_all());
  TRY_OK(output_->before_several());
  ++info_.instance_id;
  info_.vpid.reset();
  TRY(several_, make_stream(*output_, name_ + "-forked", info_));
  discarded_before_ = discarded_;
  return {};
}

void RingOutput::set_discarded(uint64_t cumulative, uint64_t now_ns) {
  discarded_ = std::max(discarded_, cumulative);
  if (several_) {
    several_->set_discarded(discarded_ - discarded_before_, now_ns);
  } else {
    own_->set_discarded(discarded_, now_ns);
  }
}

Status RingOutput::flush(bool all) {
  ctf::StreamWriter& writer = several_ ? *several_ : *own_;
  if (error_) return *error_;
  return all ? writer.flush_all() : writer.flush_full();
}

uint32_t RingOutput::own_packets() const { return static_cast<uint32_t>(own_->packets_written()); }

uint32_t RingOutput::several_packets() const {
  return several_ ? static_cast<uint32_t>(several_->packets_written()) : 0;
}

uint64_t RingOutput::lost_events() const {
  return own_->lost_events() + (several_ ? several_->lost_events() : 0);
}

}  // namespace blip::session
