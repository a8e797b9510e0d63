// SPDX-License-Identifier: MIT
// A child of the test whose threads call a function all the time, or an exact number of times, and check its
// answer; and how it looks from outside.
#pragma once

#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "probe/code/module.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"

namespace blip::probe {

class Worker {
 public:
  using Function = uint64_t (*)(uint64_t);

  // Calls the functions in turn; each must give 3 n + 1.
  Worker(std::vector<Function> functions, int threads) : functions_(std::move(functions)), threads_(threads) {
    shared_ = static_cast<Shared*>(
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    shared_->free_running = true;
    pid_ = ::fork();
    if (pid_ == 0) work();
    while (shared_->rounds < 1000 || shared_->started < threads) ::usleep(1000);
  }
  ~Worker() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::munmap(shared_, sizeof(Shared));
  }

  pid_t pid() const { return pid_; }
  uint64_t errors() const { return shared_->errors; }
  // Each function is called so many times in all, and then nobody calls any.
  void run_exactly(uint64_t rounds) {
    pause();
    const uint64_t goal = shared_->rounds + rounds;
    shared_->tickets = static_cast<int64_t>(rounds);
    while (shared_->rounds < goal) ::usleep(500);
    while (shared_->busy != 0) ::usleep(500);
  }
  void pause() {
    shared_->free_running = false;
    while (shared_->busy != 0) ::usleep(500);
  }
  void run_freely() { shared_->free_running = true; }
  void wait_rounds(uint64_t rounds) {
    const uint64_t goal = shared_->rounds + rounds;
    while (shared_->rounds < goal) ::usleep(500);
  }
  // Ends the child normally; its exit code.
  int finish() {
    shared_->stop = true;
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  struct Shared {
    std::atomic<uint64_t> rounds;
    std::atomic<int64_t> tickets;
    std::atomic<int> started, busy;
    std::atomic<uint64_t> errors;
    std::atomic<bool> stop, free_running;
  };

  [[noreturn]] void work() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::mallopt(M_ARENA_MAX, 1);  // a thread's first allocation maps nothing: the maps stay as they are
    std::vector<std::thread> all;
    for (int i = 0; i < threads_; ++i) {
      all.emplace_back([this] {
        ++shared_->started;
        for (uint64_t n = 0; !shared_->stop; ++n) work_once(n);
      });
    }
    for (std::thread& t : all) t.join();
    ::_exit(0);
  }

  void work_once(uint64_t n) {
    ++shared_->busy;
    if (shared_->free_running || shared_->tickets.fetch_sub(1) > 0) {
      for (Function f : functions_)
        if (f(n) != n * 3 + 1) ++shared_->errors;
      ++shared_->rounds;
      --shared_->busy;
    } else {
      --shared_->busy;
      ::usleep(500);
    }
  }

  std::vector<Function> functions_;
  int threads_;
  Shared* shared_;
  pid_t pid_;
};

inline std::string maps_of(pid_t pid) {
  std::string text;
  auto maps = proc::read_maps(pid);
  for (const proc::Map& m : *maps) {
    if (m.path == "[heap]") continue;
    text += std::to_string(m.range.begin.value) + "-" + std::to_string(m.range.end.value) +
            (m.exec ? "x" : "") + (m.write ? "w" : "") + m.path + "\n";
  }
  return text;
}

inline std::vector<uint8_t> text_of(const proc::Memory& memory, const Module& module) {
  std::vector<uint8_t> bytes;
  for (const AddrRange& range : module.text()) {
    std::vector<uint8_t> part(range.size());
    EXPECT_TRUE(memory.read(range.begin, part));
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

}  // namespace blip::probe
