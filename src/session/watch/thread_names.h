// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <unordered_map>

namespace blip::session {

// Names of a process's threads, as a record shows them: NUL-padded to 16 bytes. Asked from the kernel once
// per thread and refresh(), so an event costs nothing and a renamed thread shows soon.
class ThreadNames {
 public:
  using Name = std::array<char, 16>;

  // Knows the threads of this moment, so that they have names even if they end before their records are read.
  explicit ThreadNames(pid_t pid);

  // A thread that came and went unseen has its process's name.
  const Name& of(int32_t tid);
  // From now on names are asked for anew; those of threads that came since are taken at once.
  void refresh();

 private:
  struct Entry {
    Name name{};
    uint64_t generation = 0;
  };

  Name read(int32_t tid) const;
  void look(int32_t tid, Entry& entry);

  pid_t pid_;
  Name process_name_{};
  uint64_t generation_ = 1;
  std::unordered_map<int32_t, Entry> entries_;
};

}  // namespace blip::session
