// SPDX-License-Identifier: MIT
#include "proc/permission.h"

#include <fmt/core.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace blip::proc {

namespace {

std::string user_name(uid_t uid) {
  passwd entry{};
  passwd* found = nullptr;
  char buffer[4096];
  if (::getpwuid_r(uid, &entry, buffer, sizeof buffer, &found) != 0 || !found)
    return fmt::format("uid {}", uid);
  return fmt::format("uid {} ({})", uid, entry.pw_name);
}

// Real, effective and saved id must all be the tracer's own real one.
template <typename Ids>
bool all_are(const Ids& ids, typename Ids::value_type id) {
  return ids[0] == id && ids[1] == id && ids[2] == id;
}

Error denied(const AccessFacts& facts, const std::string& why) {
  return Error(ErrorKind::kPermission, fmt::format("process {} {}", facts.pid, why), EPERM);
}

uid_t foreign_uid(const ProcStatus& target, uid_t own) {
  for (const uid_t uid : {target.uids[1], target.uids[0], target.uids[2]})
    if (uid != own) return uid;
  return own;
}

const char* yama_advice(int scope) {
  switch (scope) {
    case 1:
      return "kernel.yama.ptrace_scope is 1, which allows tracing of own children only: start the program "
             "with -c, run "
             "blip as root, or set it to 0 (sysctl kernel.yama.ptrace_scope=0)";
    case 2:
      return "kernel.yama.ptrace_scope is 2, which allows tracing by root only: run blip as root, or set it "
             "to 0";
    default:
      return "kernel.yama.ptrace_scope is 3, which forbids all tracing until the next boot";
  }
}

}  // namespace

AccessFacts gather_access_facts(pid_t pid, const ProcStatus& target) {
  AccessFacts facts;
  facts.pid = pid;
  facts.target = target;
  if (auto self = read_status(::getpid(), ::getpid())) facts.self = *std::move(self);
  // The files of a process that may not dump core belong to root.
  struct stat info {};
  if (::stat(fmt::format("/proc/{}/mem", pid).c_str(), &info) == 0)
    facts.dumpable = info.st_uid == target.uids[1];
  const auto own_map = read_proc_file("/proc/self/uid_map");
  const auto map = read_proc_file(fmt::format("/proc/{}/uid_map", pid));
  facts.same_user_namespace = !own_map || !map || *own_map == *map;
  if (const auto scope = read_proc_file("/proc/sys/kernel/yama/ptrace_scope"))
    facts.yama_scope = std::atoi(scope->c_str());
  return facts;
}

Error explain_denial(const AccessFacts& facts) {
  const uid_t own = facts.self.uids[0];
  if (facts.yama_scope >= 3)
    return denied(facts, std::string("may not be traced: ") + yama_advice(facts.yama_scope));
  if (!facts.same_user_namespace)
    return denied(facts,
                  "runs in another user namespace: run blip as root outside of it, or inside the container");
  if (!all_are(facts.target.uids, own))
    return denied(facts, fmt::format("belongs to {}: run blip as that user or as root",
                                     user_name(foreign_uid(facts.target, own))));
  if (!facts.dumpable)
    return denied(facts,
                  "protects itself from tracing (set-uid program or PR_SET_DUMPABLE): run blip as root");
  if (!all_are(facts.target.gids, facts.self.gids[0]))
    return denied(facts,
                  fmt::format("runs with another group (gid {}): run blip as root", facts.target.gids[1]));
  if ((facts.target.capabilities & ~facts.self.capabilities) != 0)
    return denied(facts, "holds capabilities that blip has not: run blip as root");
  if (facts.yama_scope > 0)
    return denied(facts, std::string("may not be traced: ") + yama_advice(facts.yama_scope));
  return denied(
      facts,
      "may not be traced by this user: the kernel or a security module (container, AppArmor, SELinux) "
      "forbids it; run blip as root or outside the container");
}

}  // namespace blip::proc
