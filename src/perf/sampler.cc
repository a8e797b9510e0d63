// SPDX-License-Identifier: MIT
// One event for each thread on each CPU: the kernel lets events that are inherited have a ring only if they belong to one CPU. A
// thread that is born while its siblings get their events may have inherited one or not. PERF_RECORD_FORK tells: a thread that is
// seen in /proc and whose birth no record tells gets events of its own.
#include "perf/sampler.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "proc/files/cpu.h"
#include "proc/files/perf_event_paranoid.h"
#include "proc/files/status.h"

namespace blip::perf {

namespace {

constexpr int kMostLooks = 16;  // for threads that were born meanwhile
constexpr rlim_t kOtherFiles = 256;
constexpr uint64_t kPageSize = 4096;
constexpr uint64_t kFormatLost = 1U << 4;  // PERF_FORMAT_LOST, not in older headers

Error explain(const Error& error, pid_t pid) {
  const int number = error.errno_value();
  if (number == EACCES || number == EPERM)
    return Error(ErrorKind::kPermission,
                 fmt::format("the kernel does not let blip sample process {}: kernel.perf_event_paranoid is "
                             "{}, and must be 2 or "
                             "less (sysctl kernel.perf_event_paranoid=2), or run blip as root",
                             pid, proc::perf_event_paranoid()));
  if (number == EMFILE || number == ENFILE)
    return Error(
        ErrorKind::kUnsupported,
        fmt::format(
            "process {} has too many threads to be sampled: each needs a descriptor for every CPU (raise "
            "ulimit -n)",
            pid));
  return error.with_context(fmt::format("samples of process {}", pid));
}

void allow_files(size_t count) {
  rlimit files;
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= count + kOtherFiles) return;
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, std::max<rlim_t>(files.rlim_cur, count + kOtherFiles));
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

Result<std::unique_ptr<Sampler>> Sampler::start(pid_t pid, const Options& options) {
  std::unique_ptr<Sampler> self(new Sampler(pid, options));
  if (auto attached = self->attach(); !attached) return explain(attached.error(), pid);
  return self;
}

Status Sampler::attach() {
  TRY(const std::vector<unsigned> cpus, proc::online_cpus());
  for (const unsigned cpu : cpus) cpus_.push_back({.number = cpu, .events = {}, .ring = {}});
  for (int look = 0; look < kMostLooks; ++look) {
    TRY(const bool any, attach_new_threads());
    if (!any) break;
  }
  if (attached_.empty()) return Error(ErrorKind::kGone, "the process has ended");
  return {};
}

// False: there was none.
Result<bool> Sampler::attach_new_threads() {
  note_births();
  TRY(const std::vector<pid_t> tids, proc::list_threads(pid_));
  allow_files((attached_.size() + tids.size()) * cpus_.size());
  bool any = false;
  for (const pid_t tid : tids) {
    if (attached_.contains(tid) || inherited_.contains(tid)) continue;
    TRY_OK(attach_thread(tid));
    any = true;
  }
  return any;
}

Status Sampler::attach_thread(pid_t tid) {
  for (Cpu& cpu : cpus_) {
    const Status attached = attach_on(cpu, tid);
    if (attached) continue;
    if (attached.error().errno_value() == ESRCH) break;      // it has ended
    if (attached.error().errno_value() == ENODEV) continue;  // the CPU has gone
    return attached;
  }
  attached_.insert(tid);
  return {};
}

Status Sampler::attach_on(Cpu& cpu, pid_t tid) {
  TRY(Fd event, open_event(tid, cpu.number));
  if (!cpu.ring) {
    TRY(EventRing ring, EventRing::create(event, options_.ring_pages));
    cpu.ring = std::make_unique<EventRing>(std::move(ring));
  } else if (::ioctl(event.get(), PERF_EVENT_IOC_SET_OUTPUT, cpu.events.front().get()) != 0) {
    return Error::from_errno(errno, "share a ring");
  }
  if (::ioctl(event.get(), PERF_EVENT_IOC_ENABLE, 0) != 0) return Error::from_errno(errno, "enable");
  cpu.events.push_back(std::move(event));
  return {};
}

Result<Fd> Sampler::open_event(pid_t tid, unsigned cpu) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_TASK_CLOCK;
  attr.sample_period = static_cast<uint64_t>(options_.period.count());
  attr.sample_type = sample_type();
  attr.sample_regs_user = sampled_registers();
  attr.sample_stack_user = options_.stack_bytes;
  attr.read_format = options_.tells_lost ? kFormatLost : 0;
  attr.disabled = 1;
  attr.inherit = 1;
  attr.task = 1;
  attr.exclude_kernel = options_.exclude_kernel ? 1 : 0;
  attr.exclude_hv = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;
  attr.wakeup_watermark = static_cast<uint32_t>(options_.ring_pages * kPageSize / 2);
  Fd event(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attr, tid, static_cast<int>(cpu), -1, PERF_FLAG_FD_CLOEXEC)));
  if (event) return event;
  const int error = errno;
  if (attached_.empty() && error == EINVAL && std::exchange(options_.tells_lost, false))
    return open_event(tid, cpu);
  if (attached_.empty() && error == EACCES && !std::exchange(options_.exclude_kernel, true))
    return open_event(tid, cpu);
  return Error::from_errno(error, "perf_event_open");
}

// Threads that were born to attached ones before samples are asked for; samples that came meanwhile stay in the rings, so this
// only looks.
void Sampler::note_births() {
  for (Cpu& cpu : cpus_) {
    if (!cpu.ring) continue;
    cpu.ring->look([&](const perf_event_header& header, std::span<const uint8_t> body) {
      if (header.type == PERF_RECORD_FORK) note(cpu, header, body);
    });
  }
}

void Sampler::note(Cpu& cpu, const perf_event_header& header, std::span<const uint8_t> body) {
  const auto word = [&](size_t at) {
    uint64_t value = 0;
    if (at + sizeof value <= body.size()) std::memcpy(&value, body.data() + at, sizeof value);
    return value;
  };
  switch (header.type) {
    case PERF_RECORD_FORK:  // pid, ppid, tid, ptid: 4 bytes each
      inherited_.insert(static_cast<pid_t>(word(8) & UINT32_MAX));
      break;
    case PERF_RECORD_LOST:  // id, how many
      cpu.lost += word(8);
      break;
    case PERF_RECORD_THROTTLE:
      ++throttled_;
      break;
    default:
      break;
  }
}

uint64_t Sampler::lost_of(const Cpu& cpu) const {
  if (!options_.tells_lost) return cpu.lost;
  uint64_t lost = 0;
  for (const Fd& event : cpu.events) {
    uint64_t words[2]{};  // the value, then what was lost; those that inherited it write for it
    if (::read(event.get(), words, sizeof words) == sizeof words) lost += words[1];
  }
  return lost;
}

uint64_t Sampler::lost() const {
  uint64_t lost = 0;
  for (const Cpu& cpu : cpus_) lost += lost_of(cpu);
  return lost;
}

std::vector<int> Sampler::poll_fds() const {
  std::vector<int> fds;
  for (const Cpu& cpu : cpus_)
    if (!cpu.events.empty()) fds.push_back(cpu.events.front().get());
  return fds;
}

void Sampler::stop() {
  for (Cpu& cpu : cpus_)
    for (const Fd& event : cpu.events) ::ioctl(event.get(), PERF_EVENT_IOC_DISABLE, 0);
}

}  // namespace blip::perf
