// SPDX-License-Identifier: MIT
#include "proc/files/permission.h"

#include <fmt/core.h>
#include <linux/capability.h>
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
             "with -c, run blip as root, or set it to 0 (sysctl kernel.yama.ptrace_scope=0)";
    case 2:
      return "kernel.yama.ptrace_scope is 2, which allows tracing by root only: run blip as root, or set it "
             "to 0";
    default:
      return "kernel.yama.ptrace_scope is 3, which forbids all tracing until the next boot";
  }
}

// The file behind /proc/PID/exe is hidden from those who may not trace; its name may stand in argv[0].
std::string find_unreadable_executable(pid_t pid) {
  const auto command_line = read_proc_file(fmt::format("/proc/{}/cmdline", pid));
  if (!command_line || !command_line->starts_with('/')) return {};
  std::string path = command_line->c_str();  // to the first zero
  const bool hidden = ::access(path.c_str(), X_OK) == 0 && ::access(path.c_str(), R_OK) != 0;
  return hidden ? path : std::string();
}

std::string read_security_label(pid_t pid) {
  const auto label = read_proc_file(fmt::format("/proc/{}/attr/current", pid));
  if (!label) return {};
  return label->substr(0, label->find_first_of(std::string_view("\n\0", 2)));
}

bool confines(const std::string& label) { return !label.empty() && !label.starts_with("unconfined"); }

bool is_root_without_ptrace(const ProcStatus& self) {
  return self.uids[1] == 0 && (self.capabilities & (uint64_t{1} << CAP_SYS_PTRACE)) == 0;
}

// Nothing about users and groups forbids it: who else says no?
Error denied_by_policy(const AccessFacts& facts) {
  if (facts.yama_scope > 0)
    return denied(facts, std::string("may not be traced: ") + yama_advice(facts.yama_scope));
  if (facts.self.seccomp_mode != 0)
    return denied(
        facts,
        "may not be traced: blip itself runs under a seccomp filter (a container's?) that may forbid ptrace: "
        "allow it (docker: --cap-add=SYS_PTRACE) or run blip outside");
  if (confines(facts.security_label))
    return denied(facts, fmt::format("is confined by a security module (label '{}') that may forbid tracing: "
                                     "run blip as root, or change that policy",
                                     facts.security_label));
  return denied(
      facts,
      "may not be traced by this user: the kernel or a security module (container, AppArmor, SELinux) "
      "forbids it; run blip as root or outside the container");
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
  facts.unreadable_executable = find_unreadable_executable(pid);
  facts.security_label = read_security_label(pid);
  return facts;
}

Error unreadable_executable(pid_t pid, const std::string& path) {
  return Error(
      ErrorKind::kPermission,
      fmt::format("process {} runs {}, which this user may execute but not read: make it readable and "
                  "start it again, or run blip as root",
                  pid, path),
      EACCES);
}

Error explain_denial(const AccessFacts& facts) {
  const uid_t own = facts.self.uids[0];
  if (facts.yama_scope >= 3)
    return denied(facts, std::string("may not be traced: ") + yama_advice(facts.yama_scope));
  if (is_root_without_ptrace(facts.self))
    return denied(facts,
                  "may not be traced: blip is root but lacks CAP_SYS_PTRACE (inside a container?): start the "
                  "container with --cap-add=SYS_PTRACE, or run blip outside");
  if (!facts.same_user_namespace)
    return denied(facts,
                  "runs in another user namespace: run blip as root outside of it, or inside the container");
  if (!all_are(facts.target.uids, own))
    return denied(facts, fmt::format("belongs to {}: run blip as that user or as root",
                                     user_name(foreign_uid(facts.target, own))));
  if (!facts.dumpable && !facts.unreadable_executable.empty())
    return unreadable_executable(facts.pid, facts.unreadable_executable);
  if (!facts.dumpable)
    return denied(facts,
                  "protects itself from tracing (set-uid program, unreadable executable or PR_SET_DUMPABLE): "
                  "run blip as root");
  if (!all_are(facts.target.gids, facts.self.gids[0]))
    return denied(facts,
                  fmt::format("runs with another group (gid {}): run blip as root", facts.target.gids[1]));
  if ((facts.target.capabilities & ~facts.self.capabilities) != 0)
    return denied(facts, "holds capabilities that blip has not: run blip as root");
  return denied_by_policy(facts);
}

}  // namespace blip::proc
