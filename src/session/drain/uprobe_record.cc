// SPDX-License-Identifier: MIT
#include "session/drain/uprobe_record.h"

#include <cstring>

#include "abi/layout.h"

namespace blip::session {

namespace {

template <typename T>
void store(uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

}  // namespace

void fill_record(std::vector<uint8_t>& record, const jit::Action& action, const probe::UprobeHit& hit) {
  record.assign(action.record_size, 0);
  store(record.data(), abi::make_header(static_cast<uint16_t>(action.class_id), hit.time_ns));
  // The kernel hands over registers, and memory is another one by now: nothing of what a program reads is
  // known.
  if (const size_t outputs = action.hit.outputs.size(); outputs != 0) {
    const uint64_t faults = (uint64_t{1} << outputs) - 1;
    store(&record[abi::kHitWordOffset], faults << abi::kHitFaultShift | action.record_size);
  }
  for (const jit::Field& field : action.fields) {
    uint8_t* at = &record[field.offset];
    switch (field.capture) {
      case jit::Capture::kRegister:
        store(at, hit.registers[field.reg]);
        break;
      case jit::Capture::kFlags:
        store(at, hit.flags);
        break;
      case jit::Capture::kConstant:
      case jit::Capture::kHitWord:
        store(at, field.value);
        break;
      case jit::Capture::kTid:
        store(at, hit.tid);
        break;
      case jit::Capture::kCpu:
        store(at, hit.cpu);
        break;
      case jit::Capture::kThreadKey:
        std::memcpy(at, hit.comm, sizeof hit.comm);
        break;
      case jit::Capture::kShortConstant:
      case jit::Capture::kLatency:
      case jit::Capture::kDepth:
      case jit::Capture::kStack:
      case jit::Capture::kNone:
        break;  // of returns and stacks, which uprobes are not asked for
    }
  }
}

}  // namespace blip::session
