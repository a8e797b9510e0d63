// SPDX-License-Identifier: MIT
// Several system calls in one go. On a busy machine a thread waits for a CPU each time it is let run, some
// milliseconds, and the program with it; stopping at each call would be two waits for every one of them.
//
//   1  stub, frame, calls     as for one call (remote_call.cc); the calls end at the frame
//   2  SETREGS rip = stub     from here on the thread makes all calls, pops the frame, goes on
//   3  PTRACE_CONT            the last call sends the thread a signal, with which it stops
//   4  results                stand where the calls stood; the signal is thrown away
//
// The signal is one that does nothing: the thread does not block it, the program does not catch it, and its
// default action is to be ignored. So should blip die, nobody notices it. A thread for which there is no such
// signal is stopped at each call.
//
// Any other signal stops the thread on its way. What it has made until then is seen from its registers; it
// takes the signal natively, and the rest is made from wherever that has brought it.
#include <fmt/core.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "machine/stub.h"
#include "machine/thread_registers.h"
#include "proc/remote_call.h"
#include "proc/stop_event.h"

namespace blip::proc {

using machine::StubCall;
using machine::StubFrame;

namespace {

constexpr int kPtraceAttempts = 3;
constexpr std::chrono::seconds kListDeadline{5};

uint64_t aligned(uint64_t size) { return (size + 7) & ~uint64_t{7}; }

void put(std::vector<uint8_t>& memory, uint64_t offset, const auto& value) {
  std::memcpy(memory.data() + offset, &value, sizeof value);
}

StubCall stub_call(long number, const std::array<uint64_t, 6>& arguments) {
  return {.number = static_cast<uint64_t>(number), .arguments = arguments};
}

}  // namespace

// Not SIGCONT: sending it has an effect of its own.
void RemoteCaller::choose_mark(const ProcStatus& status) {
  own_tid_ = status.ns_pids.empty() ? 0 : status.ns_pids.back();
  mark_ = 0;
  if (own_tid_ == 0) return;
  for (const int signal : {SIGURG, SIGWINCH, SIGCHLD}) {
    const uint64_t bit = uint64_t{1} << (signal - 1);
    if ((status.blocked | status.caught) & bit) continue;
    mark_ = signal;
    return;
  }
}

Result<size_t> RemoteCaller::run_together(std::span<CallList::Call> calls) {
  const Layout layout = lay_out(calls);
  if (layout.count == 0)
    return Error(ErrorKind::kInvalid, fmt::format("a remote call with {} bytes", calls.front().bytes.size()));
  TRY_OK(enter(layout));
  auto made = run_to_mark(layout, calls.first(layout.count));
  if (!arena_.here.empty()) take_arena_back();
  return made;
}

// The thread stands at its frame.
void RemoteCaller::take_arena_back() {
  for (int attempt = 0; in_stub_ && attempt < kPtraceAttempts; ++attempt) (void)leave_stub();
  if (!in_stub_) std::fill(arena_.here.begin(), arena_.here.end(), 0);
}

// Lays out as many calls as there is room for, and behind them the one that sends the signal.
RemoteCaller::Layout RemoteCaller::lay_out(std::span<const CallList::Call> calls) const {
  const bool lent = !arena_.here.empty();
  const uint64_t room = lent ? arena_.here.size() - sizeof(StubFrame) : kMaxBytes;
  Layout layout;
  uint64_t bytes = 0, used = sizeof(StubCall);
  for (const CallList::Call& call : calls) {
    used += sizeof(StubCall) + aligned(call.bytes.size());
    if (used > room) break;
    bytes += aligned(call.bytes.size());
    ++layout.count;
  }
  const TargetAddr frame = lent ? arena_.there + room : scratch_ + kMaxBytes;
  layout.calls = frame - (layout.count + 1) * sizeof(StubCall);
  layout.begin = layout.calls - bytes;
  layout.memory.resize(frame - layout.begin);
  uint64_t text = 0, at = bytes;
  for (const CallList::Call& call : calls.first(layout.count)) {
    std::array<uint64_t, 6> arguments = call.arguments;
    if (!call.bytes.empty()) {
      arguments[0] = (layout.begin + text).value;
      std::copy(call.bytes.begin(), call.bytes.end(), layout.memory.data() + text);
      text += aligned(call.bytes.size());
    }
    put(layout.memory, at, stub_call(call.number, arguments));
    at += sizeof(StubCall);
  }
  put(layout.memory, at,
      stub_call(SYS_tkill, {static_cast<uint64_t>(own_tid_), static_cast<uint64_t>(mark_)}));
  return layout;
}

Status RemoteCaller::enter(const Layout& layout) {
  TRY_OK(write_stub());
  if (arena_.here.empty()) {
    TRY_OK(write(layout.begin, layout.memory));
  } else {
    const StubFrame frame = machine::make_stub_frame(machine::resume_state(original_));
    uint8_t* const here = arena_.here.data() + (layout.begin - arena_.there);
    std::copy(layout.memory.begin(), layout.memory.end(), here);
    std::memcpy(here + layout.memory.size(), &frame, sizeof frame);
  }
  Registers entry = original_;
  entry.forget_system_call();
  entry.set_pc(site_.addr.value);
  entry.set_sp(layout.calls.value);
  TRY_OK(thread_->set_registers(entry));
  in_stub_ = true;
  return {};
}

Result<size_t> RemoteCaller::run_to_mark(const Layout& layout, std::span<CallList::Call> calls) {
  const auto deadline = std::chrono::steady_clock::now() + kListDeadline;
  for (;;) {
    long resumed = -1;
    for (int attempt = 0; attempt < kPtraceAttempts && resumed != 0; ++attempt)
      resumed = ::ptrace(PTRACE_CONT, thread_->tid, nullptr, nullptr);
    if (resumed != 0) return Error::from_errno(errno, fmt::format("cannot resume thread {}", thread_->tid));
    const StopEvent event = wait_for_stop(pid_, thread_->tid, deadline);
    switch (event.kind) {
      case StopKind::kSignal: {
        TRY_OK(thread_->refresh());
        TRY(const size_t made, take_results(layout, calls));
        if (event.signal == mark_ && made > calls.size()) return calls.size();
        TRY_OK(deliver_signal(event.signal));
        return std::min(made, calls.size());
      }
      case StopKind::kSyscall:
      case StopKind::kInterrupt:
      case StopKind::kGroupStop:
        break;
      case StopKind::kRunning:
        thread_->stopped = false;
        return Error(ErrorKind::kTimeout,
                     fmt::format("system calls in thread {} take too long", thread_->tid));
      case StopKind::kEnded:
      case StopKind::kExit:
      case StopKind::kExec:
        thread_->stopped = event.kind != StopKind::kEnded;
        in_stub_ = false;
        return Error(ErrorKind::kGone, fmt::format("process {} has ended", pid_), ESRCH);
    }
  }
}

// The number of calls that were made, the sending of the signal included. The results are the target's word,
// as is all that it is asked to do for blip.
Result<size_t> RemoteCaller::take_results(const Layout& layout, std::span<CallList::Call> calls) {
  const Registers& now = thread_->registers;
  const uint64_t offset = now.pc() - site_.addr.value;
  auto made = machine::calls_made(offset, now.sp(), layout.calls.value);
  if (!made || *made > calls.size() + 1) {
    in_stub_ = false;  // it has restored itself and gone on: nothing may be put back
    return Error(ErrorKind::kBusy, fmt::format("thread {} was moved by somebody else", thread_->tid));
  }
  std::vector<StubCall> seen(calls.size());
  if (!memory_->read(layout.calls, {reinterpret_cast<uint8_t*>(seen.data()), seen.size() * sizeof(StubCall)}))
    return Error(ErrorKind::kSystem, fmt::format("cannot read the stack of thread {}", thread_->tid));
  for (size_t i = 0; i < std::min(*made, calls.size()); ++i)
    calls[i].result = static_cast<int64_t>(seen[i].more);
  if (offset == machine::kStubReturn && *made != 0) {
    const int64_t result = now.result();
    if (machine::is_restart(result)) return *made - 1;
    if (*made <= calls.size()) calls[*made - 1].result = result;
  }
  return *made;
}

}  // namespace blip::proc
