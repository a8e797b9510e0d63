// SPDX-License-Identifier: MIT
#include "session/watch/family.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "proc/files/exit_status.h"
#include "proc/files/find_processes.h"
#include "proc/files/status.h"

namespace blip::session {

namespace {

constexpr std::chrono::milliseconds kScanPause{20};
constexpr int kShareOfTime = 20;
constexpr int kLongestLeavingMs = 1000;

bool has_ended(const Fd& pidfd) {
  pollfd entry{pidfd.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

}  // namespace

std::optional<Family::Member> Family::open(pid_t pid) {
  Member member;
  member.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const auto status = proc::read_status(pid, pid);
  const auto stat = proc::read_stat(pid, pid);
  if (!member.pidfd || !status || !stat) return std::nullopt;
  member.id = {pid, status->ns_pids.empty() ? pid : status->ns_pids.back()};
  member.before_exec = stat->forked_without_exec();
  if (auto memory = proc::Memory::open_read_only(pid)) member.memory.emplace(*std::move(memory));
  return member;
}

void Family::add(pid_t pid) {
  if (members_.contains(pid)) return;
  if (auto member = open(pid)) members_.emplace(pid, *std::move(member));
}

bool Family::adopt(pid_t pid, FamilyNews& news) {
  if (members_.contains(pid)) return true;
  auto member = open(pid);
  if (!member) return false;
  if (!member->before_exec) news.executed.push_back(member->id);
  members_.emplace(pid, *std::move(member));
  return true;
}

// A child of vfork has its parent's memory until it calls exec: there only the kernel's mark tells.
bool Family::called_exec(Member& member) const {
  if (!member.before_exec && (!member.memory || !member.memory->mm_gone())) return false;
  const auto stat = proc::read_stat(member.id.pid, member.id.pid);
  // A process on its way out has given up its memory before it has ended.
  if (!stat || stat->exiting() || has_ended(member.pidfd)) return false;
  if (member.before_exec && stat->forked_without_exec()) return false;
  member.before_exec = false;
  member.memory.reset();
  if (auto memory = proc::Memory::open_read_only(member.id.pid)) member.memory.emplace(*std::move(memory));
  return true;
}

// Whoever is new in /proc and has a parent here; one that has ended already, if nobody has waited for it.
void Family::scan(FamilyNews& news) {
  const auto begin = Clock::now();
  if (begin < next_scan_) return;
  const auto all = descendants_ ? proc::list_processes() : std::vector<pid_t>();
  if (!all) return;
  std::set<pid_t> strangers;
  for (pid_t pid : *all) {
    if (members_.contains(pid)) continue;
    if (strangers_.contains(pid)) {
      strangers.insert(pid);
      continue;
    }
    const auto stat = proc::read_stat(pid, pid);
    if (!stat) continue;
    const auto parent = members_.find(stat->ppid);
    if (parent == members_.end()) {
      strangers.insert(pid);
      continue;
    }
    auto member = open(pid);
    if (!member) continue;
    news.born.push_back({member->id, parent->second.id});
    if (!member->before_exec) news.executed.push_back(member->id);
    members_.emplace(pid, *std::move(member));
  }
  strangers_ = std::move(strangers);
  const auto end = Clock::now();
  next_scan_ = end + std::max<Clock::duration>(kScanPause, (end - begin) * kShareOfTime);
}

void FamilyNews::append(const FamilyNews& more) {
  born.insert(born.end(), more.born.begin(), more.born.end());
  executed.insert(executed.end(), more.executed.begin(), more.executed.end());
  died.insert(died.end(), more.died.begin(), more.died.end());
}

FamilyNews Family::look() {
  FamilyNews news;
  scan(news);
  for (auto m = members_.begin(); m != members_.end();) {
    Member& member = m->second;
    if (has_ended(member.pidfd)) {
      news.died.push_back({member.id, proc::exit_status(member.id.pid, member.pidfd.get())});
      strangers_.insert(m->first);  // until somebody has waited for it
      m = members_.erase(m);
      continue;
    }
    if (called_exec(member)) news.executed.push_back(member.id);
    ++m;
  }
  return news;
}

void Family::wait_for_leaving() const {
  for (const auto& [pid, member] : members_) {
    const auto stat = proc::read_stat(pid, pid);
    if (!stat || !stat->exiting() || !member.memory || !member.memory->mm_gone()) continue;
    pollfd entry{member.pidfd.get(), POLLIN, 0};
    ::poll(&entry, 1, kLongestLeavingMs);
  }
}

std::vector<std::pair<pid_t, int>> Family::pidfds() const {
  std::vector<std::pair<pid_t, int>> fds;
  for (const auto& [pid, member] : members_) fds.emplace_back(pid, member.pidfd.get());
  return fds;
}

}  // namespace blip::session
