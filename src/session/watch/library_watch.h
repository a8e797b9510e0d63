// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "probe/code/module.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"

namespace blip::session {

// A file with code, and where that is mapped.
struct CodeFile {
  probe::Module module;
  std::vector<proc::Map> text;
};

struct LibraryNews {
  std::vector<CodeFile> went;  // before the others came
  std::vector<CodeFile> came;
};

// Which files with code a process has mapped, compared from one look to the next. Nobody is stopped for it.
class LibraryWatch {
 public:
  using Clock = std::chrono::steady_clock;

  // `modules` is what is known already. All that is given outlives it.
  LibraryWatch(const proc::Process& process, const proc::Memory& memory, probe::ModuleFiles& files,
               std::span<const probe::Module> modules, std::span<const proc::Map> maps);

  // Returns the modules that were there at the last look.
  std::vector<probe::Module> modules() const;

  // Looking costs time in a process of many mappings: at most one twentieth of blip's is spent on it.
  bool is_due() const { return Clock::now() >= next_; }
  void put_off();
  // `same`: whether a library that is mapped as before is the one that was there before.
  Result<LibraryNews> look(const std::function<bool(const CodeFile&)>& same);

 private:
  using Key = std::tuple<uint64_t, uint64_t, uint64_t>;  // address, device, inode

  Result<LibraryNews> compare(const std::function<bool(const CodeFile&)>& same);
  Status load(std::span<const proc::Map> maps, std::span<const proc::Map> fresh, LibraryNews& news);

  const proc::Process& process_;
  const proc::Memory& memory_;
  probe::ModuleFiles& files_;
  std::vector<CodeFile> there_;
  std::set<Key> ignored_;  // mappings that blip cannot look into
  Clock::time_point next_{};
};

}  // namespace blip::session
