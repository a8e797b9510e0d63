// SPDX-License-Identifier: MIT
#include "probe/uprobe/uprobes.h"

#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <map>

#include "proc/files/cpu.h"
#include "proc/files/perf_event_paranoid.h"
#include "proc/files/status.h"

namespace blip::probe {

namespace {

constexpr char kTypeFile[] = "/sys/bus/event_source/devices/uprobe/type";
constexpr rlim_t kOtherFiles = 256;

// Before Linux 5.11 the memory of BPF maps counts as locked. Whoever may use uprobes may raise these, too; if
// not, what needs them will say so.
void raise_limits(size_t events) {
  const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
  ::setrlimit(RLIMIT_MEMLOCK, &all);
  rlimit files;
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  const rlim_t wanted = events + kOtherFiles;
  if (files.rlim_cur >= wanted) return;
  files.rlim_cur = std::max(files.rlim_cur, std::min(files.rlim_max, wanted));
  ::setrlimit(RLIMIT_NOFILE, &files);
  files = {wanted, std::max(files.rlim_max, wanted)};
  ::setrlimit(RLIMIT_NOFILE, &files);
}

Result<int> event_type() {
  auto text = proc::read_proc_file(kTypeFile);
  int type = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), type).ec != std::errc())
    return Error(ErrorKind::kUnsupported,
                 fmt::format("this kernel has no uprobes ({} is missing): omit --backend uprobe", kTypeFile));
  return type;
}

// In the words of the user; other failures as they are.
Error explain(const Error& error) {
  if (error.kind() != ErrorKind::kPermission) return error.with_context("uprobes");
  return Error(
      ErrorKind::kPermission,
      fmt::format("the kernel lets only root, or CAP_PERFMON with CAP_BPF, use uprobes, whatever "
                  "kernel.perf_event_paranoid says (it is {}): run blip as root, or omit --backend uprobe",
                  proc::perf_event_paranoid()));
}

// Explains why perf_event_open(2) refused one place.
std::string why_refused(int error) {
  if (error == EOPNOTSUPP || error == 524 /* ENOTSUPP */)
    return "the kernel cannot put a uprobe on this instruction";
  return fmt::format("the kernel refuses a uprobe here: {}", std::strerror(error));
}

// Links of 6.6 to 6.9 may see only one thread of a process, depending on what was mended in them.
bool links_usable() {
  constexpr std::pair kFirst{6, 10};
  utsname name;
  std::pair<int, int> release;
  return ::uname(&name) == 0 && std::sscanf(name.release, "%d.%d", &release.first, &release.second) == 2 &&
         release >= kFirst;
}

bool ends_everything(int error) {
  return error == EACCES || error == EPERM || error == EMFILE || error == ENFILE || error == ESRCH ||
         error == ENOMEM;
}

}  // namespace

Result<std::unique_ptr<Uprobes>> Uprobes::arm(const proc::Process& process, const proc::Memory& memory,
                                              std::span<const UprobePoint> points, const Options& options) {
  std::unique_ptr<Uprobes> self(new Uprobes(process, points, options));
  raise_limits(points.size());
  TRY(self->event_type_, event_type());
  TRY(self->thread_, proc::find_live_thread(process.pid()));
  // A link asks the first thread for its memory, which it has no more once it has ended.
  self->linked_ = options.links && links_usable() && self->thread_ == process.pid();
  if (auto made = self->make_maps(); !made) return explain(made.error());
  TRY(self->places_, find_uprobe_places(process, memory, self->addresses()));
  for (size_t i = 0; i < points.size(); ++i)
    if (!self->places_[i].refusal.empty()) self->refused_.emplace_back(i, self->places_[i].refusal);
  if (auto attached = self->attach(); !attached) return explain(attached.error());
  TRY_OK(self->set_running(true));
  return self;
}

Uprobes::~Uprobes() { disarm(); }

Status Uprobes::make_maps() {
  const auto count = static_cast<uint32_t>(points_.size());
  UprobeMaps maps;
  TRY(maps.entries, BpfMap::create(BPF_MAP_TYPE_HASH, sizeof(uint64_t), sizeof(UprobeEntry), count));
  TRY(maps.running, BpfMap::create(BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(uint64_t), 1));
  TRY(maps.discarded, BpfMap::create(BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(uint32_t), sizeof(uint64_t), 1));
  if (!options_.counts) {
    TRY(maps.ring, BpfRing::create(options_.ring_size));
  }
  for (uint32_t i = 0; i < count; ++i) {
    const UprobeEntry entry{.point = i, .events = points_[i].events};
    TRY_OK(maps.entries.update(&points_[i].addr.value, &entry));
  }
  maps_ = std::move(maps);
  TRY(program_, load_uprobe_program({.counts = options_.counts,
                                     .registers = options_.registers,
                                     .pid = process_.pid(),
                                     .ns_pid = process_.ns_pid(),
                                     .attach_type = linked_ ? kUprobeMulti : 0},
                                    *maps_));
  return {};
}

// Never `inherit`: at a fork the kernel would look for the file's name in the target's memory, and the fork,
// or pthread_create, would fail. A program runs in every thread of the process without it. Disabled: the
// program runs all the same, and a switch to the thread need not care for its events.
Result<Fd> Uprobes::open_event(const UprobePlace& place) const {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = static_cast<uint32_t>(event_type_);
  attr.uprobe_path = reinterpret_cast<uintptr_t>(place.path.c_str());
  attr.probe_offset = place.offset;
  attr.disabled = 1;
  Fd fd(static_cast<int>(::syscall(SYS_perf_event_open, &attr, thread_, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!fd || ::ioctl(fd.get(), PERF_EVENT_IOC_SET_BPF, program_.get()) != 0)
    return Error::from_errno(errno, fmt::format("a uprobe in {}", place.path));
  return fd;
}

void Uprobes::refuse(size_t point, int error) {
  places_[point].refusal = why_refused(error);
  refused_.emplace_back(point, places_[point].refusal);
}

Status Uprobes::attach() { return linked_ ? attach_links() : attach_events(); }

Status Uprobes::attach_events() {
  std::vector<Fd> events;
  for (size_t i = 0; i < places_.size(); ++i) {
    if (!places_[i].refusal.empty()) continue;
    auto event = open_event(places_[i]);
    if (event) {
      events.push_back(*std::move(event));
    } else if (ends_everything(event.error().errno_value())) {
      return event.error();
    } else {
      refuse(i, event.error().errno_value());
    }
  }
  fds_ = std::move(events);
  return {};
}

Status Uprobes::attach_links() {
  std::map<std::string, std::vector<size_t>> files;
  for (size_t i = 0; i < places_.size(); ++i)
    if (places_[i].refusal.empty()) files[places_[i].path].push_back(i);
  for (const auto& [path, points] : files) TRY_OK(link(path, points));
  return {};
}

// The kernel takes all or none: which it did not like is found by halves.
Status Uprobes::link(const std::string& path, std::span<const size_t> points) {
  std::vector<uint64_t> offsets;
  for (size_t i : points) offsets.push_back(places_[i].offset);
  auto made = link_uprobes(program_, path, offsets, process_.pid());
  if (made) {
    fds_.push_back(*std::move(made));
    return {};
  }
  const int error = made.error().errno_value();
  if (ends_everything(error)) return made.error();
  if (points.size() == 1) {
    refuse(points.front(), error);
    return {};
  }
  TRY_OK(link(path, points.first(points.size() / 2)));
  return link(path, points.subspan(points.size() / 2));
}

Status Uprobes::set_running(bool running) const {
  const uint32_t key = 0;
  const uint64_t value = running;
  return maps_->running.update(&key, &value);
}

std::vector<TargetAddr> Uprobes::addresses() const {
  std::vector<TargetAddr> addresses;
  for (const UprobePoint& point : points_) addresses.push_back(point.addr);
  return addresses;
}

UprobeEntry Uprobes::entry(size_t point) const {
  UprobeEntry entry;
  (void)maps_->entries.lookup(&points_[point].addr.value, &entry);
  return entry;
}

std::vector<uint64_t> Uprobes::discarded_by_cpu() const {
  std::vector<uint64_t> counts(proc::possible_cpus().value_or(1));
  const uint32_t key = 0;
  (void)maps_->discarded.lookup(&key, counts.data());
  return counts;
}

Result<bool> Uprobes::follow_threads() {
  const auto stat = proc::read_stat(process_.pid(), thread_);
  if (linked_ || fds_.empty() || (stat && stat->state != 'Z' && stat->state != 'X')) return false;
  TRY(thread_, proc::find_live_thread(process_.pid()));
  TRY_OK(attach());
  return true;
}

void Uprobes::disarm() {
  if (maps_) (void)set_running(false);
  fds_.clear();
}

}  // namespace blip::probe
