// SPDX-License-Identifier: MIT
#include "probe/inject/thread_facts.h"

#include <array>
#include <cstring>
#include <vector>

#include "proc/files/status.h"

namespace blip::probe {

namespace {

constexpr uint64_t kRseqCpuId = 4;  // struct rseq
// Where a libc may keep a thread's tid, from its thread pointer: musl some 50 bytes up, glibc 720.
constexpr int32_t kSearchBegin = 0;
constexpr int32_t kSearchEnd = 2304;

// The thread's id as it sees itself.
pid_t own_tid(const proc::Attachment& attachment, const proc::Thread& thread, pid_t ns_pid) {
  if (ns_pid == attachment.pid()) return thread.tid;
  auto status = proc::read_status(attachment.pid(), thread.tid);
  return status && !status->ns_pids.empty() ? status->ns_pids.back() : thread.tid;
}

TargetAddr in_thread_block(const proc::Thread& thread, int32_t offset) {
  return TargetAddr(thread.registers.thread_pointer() + static_cast<int64_t>(offset));
}

bool tid_everywhere(proc::Attachment& attachment, const proc::Memory& memory, pid_t ns_pid, int32_t offset) {
  const std::span<const proc::Thread> threads = attachment.threads();
  std::vector<int32_t> tids(threads.size());
  std::vector<proc::ReadRequest> requests;
  for (size_t i = 0; i < threads.size(); ++i)
    requests.push_back(
        {in_thread_block(threads[i], offset), {reinterpret_cast<uint8_t*>(&tids[i]), sizeof tids[i]}});
  if (!memory.read_all(requests)) return false;
  for (size_t i = 0; i < threads.size(); ++i)
    if (tids[i] != own_tid(attachment, threads[i], ns_pid)) return false;
  return true;
}

std::optional<int32_t> search_tid(proc::Attachment& attachment, const proc::Memory& memory, pid_t ns_pid) {
  proc::Thread& first = attachment.threads().front();
  const pid_t tid = own_tid(attachment, first, ns_pid);
  std::vector<uint8_t> bytes(kSearchEnd - kSearchBegin);
  if (first.registers.thread_pointer() == 0) return std::nullopt;
  if (!memory.read(TargetAddr(first.registers.thread_pointer() + kSearchBegin), bytes)) {
    bytes.resize(256);  // a small thread block at the end of a mapping
    if (!memory.read(TargetAddr(first.registers.thread_pointer() + kSearchBegin), bytes)) return std::nullopt;
  }
  for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    int32_t value;
    std::memcpy(&value, &bytes[at], sizeof value);
    const auto offset = kSearchBegin + static_cast<int32_t>(at);
    if (value == tid && tid_everywhere(attachment, memory, ns_pid, offset)) return offset;
  }
  return std::nullopt;
}

std::optional<jit::Rseq> rseq_of(const proc::Thread& thread) {
  auto config = thread.rseq();
  if (!config || config->area == TargetAddr()) return std::nullopt;
  const auto offset = static_cast<int64_t>(config->area.value - thread.registers.thread_pointer());
  if (offset != static_cast<int32_t>(offset)) return std::nullopt;
  return jit::Rseq{static_cast<int32_t>(offset), config->signature};
}

}  // namespace

ThreadFacts find_thread_facts(proc::Attachment& attachment, const proc::Memory& memory, pid_t ns_pid,
                              std::optional<int32_t> tid_hint) {
  ThreadFacts facts;
  for (proc::Thread& thread : attachment.threads()) {
    facts.shadow_stack |= thread.shadow_stack();
    if (!facts.rseq) facts.rseq = rseq_of(thread);
  }
  if (tid_hint && tid_everywhere(attachment, memory, ns_pid, *tid_hint)) {
    facts.tid_offset = tid_hint;
  } else {
    facts.tid_offset = search_tid(attachment, memory, ns_pid);
  }
  return facts;
}

bool facts_hold(proc::Attachment& attachment, const proc::Memory& memory, pid_t ns_pid,
                const ThreadFacts& facts, uint32_t ring_count) {
  if (facts.tid_offset && !tid_everywhere(attachment, memory, ns_pid, *facts.tid_offset)) return false;
  for (proc::Thread& thread : attachment.threads()) {
    if (thread.shadow_stack() != facts.shadow_stack) return false;
    if (!facts.rseq) continue;
    if (const auto rseq = rseq_of(thread)) {
      if (rseq->offset != facts.rseq->offset || rseq->signature != facts.rseq->signature) return false;
      continue;
    }
    // Not registered: what lies where others have their cpu_id must send the thread to the shared ring.
    const TargetAddr cpu_id = in_thread_block(thread, facts.rseq->offset) + kRseqCpuId;
    auto value = memory.read_value<uint32_t>(cpu_id);
    if (!value || *value < ring_count) return false;
  }
  return true;
}

std::optional<int32_t> find_tid_hint(std::span<const Module> modules, const proc::Memory& memory) {
  for (const Module& module : modules) {
    if (!module.is_libc() && !module.is_executable()) continue;
    auto symbols = module.symbols();
    if (!symbols) continue;
    // struct { uint32_t size_in_bits, count, offset; }, see glibc's nptl_db.
    const auto descriptor = (*symbols)->object("_thread_db_pthread_tid");
    if (!descriptor) continue;
    auto words = memory.read_value<std::array<uint32_t, 3>>(module.to_target(FileAddr(*descriptor)));
    if (words && (*words)[0] == 32) return static_cast<int32_t>((*words)[2]);
  }
  return std::nullopt;
}

}  // namespace blip::probe
