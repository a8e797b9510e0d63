// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ctf/schema.h"
#include "script/run/interpreter.h"

namespace blip::session {

// What a record of a handler's class holds, beside its time and process.
struct DecodedHit {
  uint64_t probe = 0;
  uint64_t tid = 0, cpu = 0;
  std::span<const script::CapturedValue> captured{};  // texts lie in the record
};

// Reads the records of one class. The fields' places are looked up once.
class HitDecoder {
 public:
  explicit HitDecoder(const ctf::EventClass& event_class);

  // Good until the next call. False: the record is not as its class says; it is a copy of what the target wrote.
  bool decode(std::span<const uint8_t> untrusted_record, DecodedHit& hit);

 private:
  struct Fixed {
    uint32_t output, offset, size;
  };
  struct Dynamic {
    uint32_t output, length_at, most;
  };

  bool decode_outputs(std::span<const uint8_t> record);
  void decode_fixed(const Fixed& fixed, const uint8_t* record);

  static constexpr uint32_t kAbsent = UINT32_MAX;
  uint32_t probe_at_ = kAbsent, tid_at_ = kAbsent, cpu_at_ = kAbsent;
  uint32_t least_size_ = 0;
  bool has_hit_word_ = false;
  std::vector<Fixed> fixed_;
  std::vector<Dynamic> dynamic_;
  std::vector<script::CapturedValue> captured_;
};

}  // namespace blip::session
