// SPDX-License-Identifier: MIT
#include "session/run/hit_decoder.h"

#include <algorithm>
#include <cstring>

#include "abi/layout.h"
#include "ctf/known_fields.h"

namespace blip::session {

namespace {

template <typename T>
T load(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

HitDecoder::HitDecoder(const ctf::EventClass& c) : has_hit_word_(c.has_hit_word) {
  // Without a hit word, a record lacks the pid that its class begins with.
  const uint32_t nearer = c.leads_with_pid && !c.has_hit_word ? ctf::kPidSize : 0;
  least_size_ = c.has_hit_word ? c.fixed_size : abi::kHeaderSize;
  const auto find = [&](std::string_view name, uint32_t& at) {
    const auto found =
        std::find_if(c.fields.begin(), c.fields.end(), [&](const ctf::Field& f) { return f.name == name; });
    if (found == c.fields.end()) return;
    at = found->offset - nearer;
    least_size_ = std::max(least_size_, at + ctf::field_size(found->type));
  };
  find(ctf::kIpField, probe_at_);
  find(ctf::kTidField, tid_at_);
  find("cpu", cpu_at_);
  for (uint32_t i = 0; i < c.outputs.size(); ++i) {
    const ctf::RecordOutput& o = c.outputs[i];
    if (o.is_added) continue;
    if (o.is_dynamic()) {
      dynamic_.push_back({i, o.offset, static_cast<uint32_t>(o.most_bytes())});
      least_size_ = std::max<uint32_t>(least_size_, o.offset + sizeof(uint16_t));
    } else {
      fixed_.push_back({i, o.offset, o.size});
      least_size_ = std::max(least_size_, o.offset + o.size);
    }
    captured_.emplace_back();
  }
}

bool HitDecoder::decode(std::span<const uint8_t> record, DecodedHit& hit) {
  if (record.size() < least_size_) return false;
  hit.probe = probe_at_ == kAbsent ? 0 : load<uint64_t>(&record[probe_at_]);
  hit.tid = tid_at_ == kAbsent ? 0 : load<uint32_t>(&record[tid_at_]);
  hit.cpu = cpu_at_ == kAbsent ? 0 : load<uint32_t>(&record[cpu_at_]);
  if (has_hit_word_ && !decode_outputs(record)) return false;
  hit.captured = captured_;
  return true;
}

bool HitDecoder::decode_outputs(std::span<const uint8_t> record) {
  const auto hit_word = load<uint64_t>(&record[abi::kHitWordOffset]);
  const uint64_t size = static_cast<uint16_t>(hit_word), faults = hit_word >> abi::kHitFaultShift;
  if (size < least_size_ || size > record.size() || faults >> captured_.size() != 0) return false;
  for (const Fixed& f : fixed_) decode_fixed(f, record.data());
  uint64_t at = least_size_;
  for (const Dynamic& d : dynamic_) {
    const uint32_t length = load<uint16_t>(&record[d.length_at]) & ~uint32_t{abi::kLengthCut};
    if (length > d.most || at + length > size) return false;
    captured_[d.output].value.text = {reinterpret_cast<const char*>(&record[at]), length};
    at += length;
  }
  for (size_t i = 0; i < captured_.size(); ++i) captured_[i].is_fault = (faults >> i & 1) != 0;
  return true;
}

void HitDecoder::decode_fixed(const Fixed& f, const uint8_t* record) {
  uint64_t& number = captured_[f.output].value.number;
  if (f.size == sizeof number) {
    number = load<uint64_t>(record + f.offset);
  } else {
    number = 0;
    std::memcpy(&number, record + f.offset, std::min<size_t>(f.size, sizeof number));
  }
}

}  // namespace blip::session
