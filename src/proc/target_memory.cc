// SPDX-License-Identifier: MIT
#include "proc/target_memory.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>
#include <filesystem>

#include "base/directory.h"
#include "proc/files/proc_directory.h"

namespace blip::proc {

namespace {

// For calls whose result is only "done".
Status done(Result<uint64_t> result, const char* what) {
  if (!result) return result.error().with_context(what);
  return {};
}

uint64_t descriptor(int fd) { return static_cast<uint64_t>(static_cast<int64_t>(fd)); }

}  // namespace

Result<int> remote_memfd_create(RemoteCaller& caller, const std::string& name, unsigned flags) {
  CallList list;
  list.add_with_text(SYS_memfd_create, name, flags);
  TRY_OK(caller.run(list));
  TRY(const uint64_t fd, list.result(0).with_context(fmt::format("process {}: memfd_create", caller.pid())));
  return static_cast<int>(fd);
}

Status remote_ftruncate(RemoteCaller& caller, int fd, uint64_t size) {
  return done(caller.call(SYS_ftruncate, descriptor(fd), size), "ftruncate");
}

Status remote_close(RemoteCaller& caller, int fd) {
  return done(caller.call(SYS_close, descriptor(fd)), "close");
}

Result<TargetAddr> remote_mmap(RemoteCaller& caller, TargetAddr addr, uint64_t size, int prot, int flags,
                               int fd, uint64_t offset) {
  TRY(const uint64_t got, caller.call(SYS_mmap, addr.value, size, prot, flags, descriptor(fd), offset)
                              .with_context(fmt::format("mmap of {} bytes", size)));
  const bool exact = (flags & (MAP_FIXED_NOREPLACE | MAP_FIXED)) != 0;
  if (exact && got != addr.value) {
    TRY_OK(remote_munmap(caller, TargetAddr(got), size));
    return Error(ErrorKind::kSystem, fmt::format("mmap: {:#x} is taken in the target", addr.value), EEXIST);
  }
  return TargetAddr(got);
}

Status remote_munmap(RemoteCaller& caller, TargetAddr addr, uint64_t size) {
  return done(caller.call(SYS_munmap, addr.value, size), "munmap");
}

Status remote_madvise(RemoteCaller& caller, TargetAddr addr, uint64_t size, int advice) {
  return done(caller.call(SYS_madvise, addr.value, size, advice), "madvise");
}

Result<std::vector<int>> find_target_fds(pid_t pid, const std::string& link) {
  const std::string directory = proc_directory(pid) + "/fd";
  const auto names = list_directory(directory);
  if (!names && names.error().errno_value() != ENOENT) return names.error();
  std::vector<int> fds;
  if (!names) return fds;  // it has ended
  for (const std::string& name : *names) {
    std::error_code gone;
    if (std::filesystem::read_symlink(directory + "/" + name, gone) == link) fds.push_back(std::stoi(name));
  }
  return fds;
}

Result<Fd> open_target_fd(pid_t pid, int fd) {
  const std::string path = fmt::format("{}/fd/{}", proc_directory(pid), fd);
  Fd opened(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!opened) return Error::from_errno(errno, "cannot open " + path);
  return opened;
}

}  // namespace blip::proc
