// SPDX-License-Identifier: MIT
#include "session/cleaning.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "probe/inject/left_region.h"
#include "probe/inject/leftovers.h"
#include "proc/files/find_processes.h"
#include "proc/files/maps.h"
#include "proc/files/memory.h"
#include "proc/files/process.h"

namespace blip::session {

namespace {

constexpr int kRounds = 16;  // processes may fork while others are being cleaned

using FileId = std::pair<uint64_t, uint64_t>;  // device, inode

// The traces' memory that a process maps.
std::set<FileId> data_memory_of(pid_t pid) {
  std::set<FileId> ids;
  const auto maps = proc::read_maps(pid);
  if (!maps) return ids;
  for (const proc::Map& map : *maps)
    if (probe::is_data_memory(map)) ids.emplace(map.dev, map.inode);
  return ids;
}

Result<std::vector<pid_t>> all_with_memory() {
  TRY(const std::vector<pid_t> all, proc::list_processes());
  std::vector<pid_t> pids;
  for (pid_t pid : all)
    if (pid != ::getpid() && probe::has_blip_memory(pid)) pids.push_back(pid);
  return pids;
}

class Cleaning {
 public:
  explicit Cleaning(bool allow_init) : init_(allow_init ? proc::Init::kAllow : proc::Init::kRefuse) {}

  Result<CleanSummary> run(const CleanOptions& options) {
    if (!options.save_dir.empty()) TRY_OK(save_and_clean(options.pids.front(), options.save_dir));
    for (pid_t pid : options.pids) TRY_OK(clean_asked_for(pid));
    if (options.all) {
      TRY(const std::vector<pid_t> pids, all_with_memory());
      for (pid_t pid : pids) clean_found(pid);
    }
    TRY_OK(clean_sharers());
    return std::move(summary_);
  }

 private:
  // The children first: they write into the same rings.
  Status save_and_clean(pid_t pid, const std::string& dir) {
    TRY(const proc::Process process, proc::Process::open(pid, init_));
    TRY(proc::Memory memory, proc::Memory::open(pid));
    if (probe::is_traced_by_blip(process, memory)) return {};  // clean_asked_for() will tell
    shared_ = data_memory_of(pid);
    done_.insert(pid);
    TRY_OK(clean_sharers());
    done_.erase(pid);
    std::map<uint64_t, SavedRegion> regions;
    save_ = [&](const probe::LeftRegion& region) -> Status {
      TRY(std::optional<SavedRegion> copy, copy_region(memory, region));
      regions.erase(region.inode);
      if (copy) regions.emplace(region.inode, *std::move(copy));
      return {};
    };
    TRY_OK(clean_asked_for(pid));
    save_ = {};
    for (auto& [inode, region] : regions) {
      const size_t number = summary_.saved.size() + 1;
      TRY(SavedTrace saved,
          save_trace(std::move(region), pid, number == 1 ? dir : fmt::format("{}-{}", dir, number)));
      summary_.saved.push_back(std::move(saved));
    }
    return {};
  }

  Status clean_asked_for(pid_t pid) {
    TRY(proc::Process process, proc::Process::open(pid, init_));
    if (!done_.insert(pid).second) return {};
    if (!clean_one(process)) summary_.untouched.push_back(pid);
    return {};
  }

  void clean_found(pid_t pid) {
    if (!done_.insert(pid).second) return;
    if (auto process = proc::Process::open(pid, init_)) {
      clean_one(*process);
    } else if (process.error().kind() != ErrorKind::kGone) {
      summary_.processes.push_back({.pid = pid, .error = process.error()});
    }
  }

  // False: there was nothing.
  bool clean_one(const proc::Process& process) {
    const std::set<FileId> memory_ids = data_memory_of(process.pid());
    auto memory = proc::Memory::open(process.pid());
    Result<probe::Leftovers> cleaned =
        memory ? probe::clean_leftovers(process, *memory, save_) : Result<probe::Leftovers>(memory.error());
    // It has ended or called exec, if that is so.
    if (!cleaned && cleaned.error().kind() == ErrorKind::kGone && !probe::has_blip_memory(process.pid()))
      return true;
    if (cleaned && !cleaned->found) return false;
    CleanedProcess result{.pid = process.pid(), .comm = process.comm()};
    if (cleaned) {
      result.places = cleaned->probes;
      result.stays = cleaned->stays;
      shared_.insert(memory_ids.begin(), memory_ids.end());
    } else {
      result.error = cleaned.error();
      result.is_traced = memory && probe::is_traced_by_blip(process, *memory);
    }
    summary_.processes.push_back(std::move(result));
    return true;
  }

  // Children of forks have the same probes. They may fork meanwhile.
  Status clean_sharers() {
    for (int round = 0; round < kRounds; ++round) {
      bool any = false;
      TRY(const std::vector<pid_t> pids, all_with_memory());
      for (pid_t pid : pids) {
        const std::set<FileId> ids = data_memory_of(pid);
        const bool shares =
            std::any_of(ids.begin(), ids.end(), [&](const FileId& id) { return shared_.contains(id); });
        if (!shares || done_.contains(pid)) continue;
        any = true;
        clean_found(pid);
      }
      if (!any) break;
    }
    return {};
  }

  const proc::Init init_;
  CleanSummary summary_;
  std::set<pid_t> done_;
  std::set<FileId> shared_;
  probe::RegionSaver save_;
};

}  // namespace

Result<CleanSummary> clean(const CleanOptions& options) { return Cleaning(options.allow_init).run(options); }

}  // namespace blip::session
