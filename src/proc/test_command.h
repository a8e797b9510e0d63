// SPDX-License-Identifier: MIT
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/fd.h"
#include "proc/attachment.h"
#include "proc/command.h"
#include "proc/files/memory.h"
#include "proc/tracer_thread.h"

namespace blip::proc::test {

// While it lives, what this process and its children write to stdout is kept.
class CapturedOutput {
 public:
  CapturedOutput() : file_(::memfd_create("output", MFD_CLOEXEC)), before_(::fcntl(1, F_DUPFD_CLOEXEC, 10)) {
    ::dup2(file_.get(), 1);
  }
  ~CapturedOutput() { ::dup2(before_.get(), 1); }
  std::string text() const {
    std::string text(static_cast<size_t>(::lseek(file_.get(), 0, SEEK_END)), '\0');
    (void)!::pread(file_.get(), text.data(), text.size(), 0);
    return text;
  }

 private:
  Fd file_;
  Fd before_;
};

inline std::string read_all(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char piece[4096];
  for (ssize_t n; (n = ::read(file.get(), piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<size_t>(n));
  return text;
}

inline uint64_t auxv(pid_t pid, uint64_t type) {
  const std::string bytes = read_all("/proc/" + std::to_string(pid) + "/auxv");
  for (size_t at = 0; at + 16 <= bytes.size(); at += 16) {
    uint64_t entry[2];
    std::memcpy(entry, &bytes[at], sizeof entry);
    if (entry[0] == type) return entry[1];
  }
  return 0;
}

// The first instruction of a program just executed: in its loader or, without one, at its own entry.
inline uint64_t first_instruction(pid_t pid) {
  const uint64_t base = auxv(pid, AT_BASE);
  if (base == 0) return auxv(pid, AT_ENTRY);
  const auto memory = Memory::open(pid);
  return base + memory->read_value<Elf64_Ehdr>(TargetAddr(base))->e_entry;
}

inline uint64_t pc_of(pid_t pid) {
  return on_tracer_thread([&]() -> uint64_t {
    const auto process = Process::open(pid);
    auto attachment = Attachment::stop_all(*process);
    return attachment->threads()[0].registers.pc();
  });
}

}  // namespace blip::proc::test
