// SPDX-License-Identifier: MIT
// The order of what a record has is that of the bits of sample_type (perf_event_open(2)):
//
//     ip 8 | pid 4, tid 4 | time 8 | cpu 4, 0 | abi 8, registers 8 each | stack: size 8, bytes, those that are real 8
#include "perf/sample.h"

#include <linux/perf_event.h>

#include <bit>
#include <cstring>

namespace blip::perf {

namespace {

// Reads numbers from the front.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  template <typename T>
  T take() {
    T value{};
    const auto from = take(sizeof value);
    if (!from.empty()) std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  std::span<const uint8_t> take(uint64_t size) {
    if (size > bytes_.size()) {
      is_short_ = true;
      bytes_ = {};
      return {};
    }
    const auto taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }
  bool is_short() const { return is_short_; }

 private:
  std::span<const uint8_t> bytes_;
  bool is_short_ = false;
};

// The kernel writes registers in the order of their bits.
void take_registers(Reader& reader, Sample& sample) {
  std::array<uint64_t, 64> by_bit{};
  for (uint64_t left = sampled_registers(); left != 0; left &= left - 1)
    by_bit[static_cast<size_t>(std::countr_zero(left))] = reader.take<uint64_t>();
  for (size_t i = 0; i < sample.general.size(); ++i) sample.general[i] = by_bit[machine::kSampledGeneral[i]];
  sample.pc = by_bit[machine::kSampledPc];
  if constexpr (machine::kSampledFlags < by_bit.size()) sample.flags = by_bit[machine::kSampledFlags];
}

}  // namespace

uint64_t sampled_registers() {
  uint64_t mask = uint64_t{1} << machine::kSampledPc;
  for (const uint8_t bit : machine::kSampledGeneral) mask |= uint64_t{1} << bit;
  if constexpr (machine::kSampledFlags < 64) mask |= uint64_t{1} << machine::kSampledFlags;
  return mask;
}

uint64_t sample_type() {
  return PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER |
         PERF_SAMPLE_STACK_USER;
}

std::optional<Sample> read_sample(std::span<const uint8_t> body, bool in_kernel) {
  Reader reader(body);
  Sample sample{.in_kernel = in_kernel};
  const auto ip = reader.take<uint64_t>();
  sample.pid = reader.take<uint32_t>();
  sample.tid = reader.take<uint32_t>();
  sample.time_ns = reader.take<uint64_t>();
  sample.cpu = reader.take<uint32_t>();
  reader.take<uint32_t>();
  sample.has_registers = reader.take<uint64_t>() != PERF_SAMPLE_REGS_ABI_NONE;
  if (sample.has_registers) take_registers(reader, sample);
  if (!in_kernel && !sample.has_registers) sample.pc = ip;
  if (const auto size = reader.take<uint64_t>(); size != 0) {
    const auto stack = reader.take(size);
    const auto real = reader.take<uint64_t>();
    if (real <= stack.size()) sample.stack = stack.first(real);
  }
  if (reader.is_short()) return std::nullopt;
  return sample;
}

}  // namespace blip::perf
