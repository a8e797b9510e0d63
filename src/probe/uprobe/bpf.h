// SPDX-License-Identifier: MIT
// The little of bpf(2) that uprobes need: maps, and programs written instruction by instruction.
#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/mapping.h"
#include "base/result.h"

namespace blip::probe {

class BpfMap {
 public:
  static Result<BpfMap> create(bpf_map_type type, uint32_t key_size, uint32_t value_size, uint32_t entries);

  int fd() const { return fd_.get(); }
  Status update(const void* key, const void* value) const;
  // `value` has room for value_size bytes, of per-CPU maps for as many of every possible CPU.
  Status lookup(const void* key, void* value) const;

 private:
  Fd fd_;
};

// A program under construction. Registers are numbers: 0 result, 1 to 5 arguments (gone after a call), 6 to 9
// kept, 10 the frame's end.
class BpfCode {
 public:
  using Label = size_t;

  void move(uint8_t to, uint8_t from) { add(BPF_ALU64 | BPF_MOV | BPF_X, to, from); }
  void move_value(uint8_t to, int32_t value) { add(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value); }
  void move_wide(uint8_t to, uint64_t value, uint8_t pseudo = 0);
  void move_map(uint8_t to, const BpfMap& map);
  void add_value(uint8_t to, int32_t value) { add(BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, value); }
  void load64(uint8_t to, uint8_t base, int16_t offset) { add(BPF_LDX | BPF_MEM | BPF_DW, to, base, offset); }
  void load32(uint8_t to, uint8_t base, int16_t offset) { add(BPF_LDX | BPF_MEM | BPF_W, to, base, offset); }
  void store64(uint8_t base, int16_t offset, uint8_t from) {
    add(BPF_STX | BPF_MEM | BPF_DW, base, from, offset);
  }
  void store32(uint8_t base, int16_t offset, uint8_t from) {
    add(BPF_STX | BPF_MEM | BPF_W, base, from, offset);
  }
  void store_value32(uint8_t base, int16_t offset, int32_t value) {
    add(BPF_ST | BPF_MEM | BPF_W, base, 0, offset, value);
  }
  // lock add [base + offset], from
  void atomic_add64(uint8_t base, int16_t offset, uint8_t from);
  void call(bpf_func_id helper) { add(BPF_JMP | BPF_CALL, 0, 0, 0, helper); }
  void exit() { add(BPF_JMP | BPF_EXIT, 0, 0); }

  // Jumps ahead, to where place() says.
  Label jump_if_zero(uint8_t reg) { return jump(BPF_JEQ, reg, 0); }
  Label jump_if_not(uint8_t reg, int32_t value) { return jump(BPF_JNE, reg, value); }
  void place(Label label);

  // Has the kernel check it; returns a descriptor.
  Result<Fd> load(const char* name, uint32_t attach_type) const;

 private:
  void add(int code, uint8_t to, uint8_t from, int16_t offset = 0, int32_t value = 0);
  Label jump(int condition, uint8_t reg, int32_t value);

  std::vector<bpf_insn> code_;
};

// Linux 6.6: one link puts uprobes on many places of a file, for the threads of one process. They go all at
// once; single ones cost a grace period of the kernel each, some 75 ms.
inline constexpr uint32_t kUprobeMulti = 48;  // BPF_TRACE_UPROBE_MULTI
Result<Fd> link_uprobes(const Fd& program, const std::string& path, const std::vector<uint64_t>& offsets,
                        int pid);

// blip's end of a BPF_MAP_TYPE_RINGBUF: one ring for all CPUs, in the order of reservation.
class BpfRing {
 public:
  // `size`: a power of two, at least a page.
  static Result<BpfRing> create(uint32_t size);

  const BpfMap& map() const { return map_; }

  // Calls sink(const uint8_t* record, uint32_t size) for every record that is complete, up to the first that
  // is not; returns the bytes.
  template <class Sink>
  uint64_t drain(Sink&& sink);
  // The last drain() ended before a record that was not finished.
  bool stopped_early() const { return stopped_early_; }

 private:
  BpfMap map_;
  Mapping consumer_;  // its position, ours to store
  Mapping producer_;  // its position, then the data twice in a row, so that no record is cut in two
  uint32_t size_ = 0;
  bool stopped_early_ = false;
};

template <class Sink>
uint64_t BpfRing::drain(Sink&& sink) {
  auto* consumed = reinterpret_cast<uint64_t*>(consumer_.data());
  const auto* produced = reinterpret_cast<const uint64_t*>(producer_.data());
  const uint8_t* data = producer_.data() + (producer_.size() - 2 * size_t{size_});
  const uint64_t begin = *consumed;
  const uint64_t end = __atomic_load_n(produced, __ATOMIC_ACQUIRE);
  uint64_t at = begin;
  while (at != end) {
    const uint8_t* record = data + (at & (size_ - 1));
    const uint32_t header = __atomic_load_n(reinterpret_cast<const uint32_t*>(record), __ATOMIC_ACQUIRE);
    if (header & BPF_RINGBUF_BUSY_BIT) break;
    const uint32_t length = header & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
    if (!(header & BPF_RINGBUF_DISCARD_BIT)) sink(record + BPF_RINGBUF_HDR_SZ, length);
    at += (uint64_t{length} + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
    __atomic_store_n(consumed, at, __ATOMIC_RELEASE);
  }
  stopped_early_ = at != end;
  return at - begin;
}

}  // namespace blip::probe
