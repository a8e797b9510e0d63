// SPDX-License-Identifier: MIT
#include "proc/files/memory.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "proc/files/status.h"

// /proc/PID/mem keeps the address space of the moment it was opened. When that is gone reads and writes
// return 0; an address without memory is EIO.

namespace blip::proc {

namespace {

constexpr size_t kMaxVectors = 1024;  // IOV_MAX

Error gone(pid_t pid) {
  return Error(ErrorKind::kGone, fmt::format("process {} has ended or called exec", pid), ESRCH);
}

// One word of the target at a time, keeping the bytes around the wanted ones.
Status poke(pid_t tid, TargetAddr addr, std::span<const uint8_t> bytes) {
  constexpr uint64_t kWord = sizeof(long);
  while (!bytes.empty()) {
    const uint64_t word_addr = addr.value & ~(kWord - 1);
    const size_t skip = addr.value - word_addr;
    const size_t count = std::min<size_t>(kWord - skip, bytes.size());
    errno = 0;
    long word = ::ptrace(PTRACE_PEEKDATA, tid, word_addr, nullptr);
    if (errno != 0)
      return Error::from_errno(errno, fmt::format("cannot read target memory at {:#x}", word_addr));
    std::memcpy(reinterpret_cast<uint8_t*>(&word) + skip, bytes.data(), count);
    if (::ptrace(PTRACE_POKEDATA, tid, word_addr, word) != 0)
      return Error::from_errno(errno, fmt::format("cannot write target memory at {:#x}", word_addr));
    addr = addr + count;
    bytes = bytes.subspan(count);
  }
  return {};
}

Result<Fd> open_memory(pid_t pid, int mode) {
  TRY(const pid_t tid, find_live_thread(pid));
  const std::string path = fmt::format("/proc/{}/task/{}/mem", pid, tid);
  Fd fd(::open(path.c_str(), mode | O_CLOEXEC));
  if (!fd) return Error::from_errno(errno, "cannot open " + path);
  return fd;
}

}  // namespace

Result<Memory> Memory::open(pid_t pid) {
  TRY(Fd fd, open_memory(pid, O_RDWR));
  return Memory(pid, std::move(fd));
}

Result<Memory> Memory::open_read_only(pid_t pid) {
  TRY(Fd fd, open_memory(pid, O_RDONLY));
  return Memory(pid, std::move(fd));
}

Status Memory::read(TargetAddr addr, std::span<uint8_t> into) const {
  while (!into.empty()) {
    const ssize_t got = ::pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(addr.value));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return Error::from_errno(
          errno, fmt::format("cannot read {} bytes of target memory at {:#x}", into.size(), addr.value));
    if (got == 0) return gone(pid_);
    into = into.subspan(static_cast<size_t>(got));
    addr = addr + static_cast<uint64_t>(got);
  }
  return {};
}

Status Memory::write(TargetAddr addr, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(addr.value));
    if (put < 0 && errno == EINTR) continue;
    if (put == 0) return gone(pid_);
    if (put < 0) {
      const int error = errno;
      if (fallback_tid_ != 0) return poke(fallback_tid_, addr, bytes);
      return Error::from_errno(
          error, fmt::format("cannot write {} bytes of target memory at {:#x}", bytes.size(), addr.value));
    }
    bytes = bytes.subspan(static_cast<size_t>(put));
    addr = addr + static_cast<uint64_t>(put);
  }
  return {};
}

Status Memory::read_all(std::span<const ReadRequest> requests) const {
  while (!requests.empty()) {
    // process_vm_readv goes by pid; a new program under the old pid must not be read.
    if (mm_gone()) return gone(pid_);
    const auto batch = requests.first(std::min(requests.size(), kMaxVectors));
    std::array<iovec, kMaxVectors> local;
    std::array<iovec, kMaxVectors> remote;
    size_t wanted = 0;
    for (size_t i = 0; i < batch.size(); ++i) {
      local[i] = {batch[i].into.data(), batch[i].into.size()};
      remote[i] = {reinterpret_cast<void*>(batch[i].addr.value), batch[i].into.size()};
      wanted += batch[i].into.size();
    }
    const ssize_t got = ::process_vm_readv(pid_, local.data(), batch.size(), remote.data(), batch.size(), 0);
    if (got < 0 || static_cast<size_t>(got) != wanted || mm_gone()) {
      for (const ReadRequest& request : batch) TRY_OK(read(request.addr, request.into));
    }
    requests = requests.subspan(batch.size());
  }
  return {};
}

bool Memory::mm_gone() const {
  uint8_t byte;
  return ::pread(fd_.get(), &byte, 1, 0) == 0;
}

}  // namespace blip::proc
