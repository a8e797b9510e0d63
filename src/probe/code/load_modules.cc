// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "probe/code/mapped_file.h"
#include "probe/code/module.h"
#include "proc/files/links.h"
#include "proc/files/shared_root.h"

namespace blip::probe {

namespace {

bool is_code_of_file(const proc::Map& map) {
  return map.exec && map.inode != 0 && !map.path.empty() && map.path[0] == '/';
}

std::string read_link(const std::string& path) {
  char text[PATH_MAX];
  const ssize_t n = ::readlink(path.c_str(), text, sizeof text);
  return n > 0 ? std::string(text, static_cast<size_t>(n)) : std::string();
}

// The folder that the target calls "/".
class TargetRoot {
 public:
  explicit TargetRoot(pid_t pid) : directory_(proc::root_link(pid)), link_(read_link(directory_)) {
    struct stat theirs;
    differs_ = ::stat(directory_.c_str(), &theirs) == 0 && !proc::shares_root(pid);
  }

  // /proc/PID/maps shows paths as we see them: below a chroot's directory, if that is where the target is.
  std::vector<elf::SearchRoot> search_roots(const std::string& path) const {
    if (!differs_) return {{"/", path}};
    const bool below = link_.size() > 1 && path.starts_with(link_ + "/");
    return {{directory_, below ? path.substr(link_.size()) : path}, {"/", path}};
  }

 private:
  std::string directory_;
  std::string link_;
  bool differs_ = false;
};

class Loader {
 public:
  Loader(const proc::Process& process, const proc::Memory& memory, ModuleFiles& files)
      : process_(process), memory_(memory), files_(files), root_(process.pid()) {
    const std::string exe = proc::executable_link(process.pid());
    if (::stat(exe.c_str(), &exe_) != 0) exe_ = {};
  }

  void load(const proc::Map& map) {
    if (is_known(map)) return;
    const bool is_executable = map.inode == exe_.st_ino && (map.dev == exe_.st_dev || map.path == exe_path());
    auto opened =
        open_mapped_file(process_, memory_, map, is_executable, root_.search_roots(map.path), files_);
    if (!opened) {
      unreadable(map.path, opened.error().message());
      return;
    }
    known_.push_back({map.dev, map.inode, result_.modules.size()});
    result_.modules.emplace_back(std::move(opened->file), map.path, opened->bias, is_executable);
  }

  LoadedModules take() && { return std::move(result_); }

 private:
  struct Known {
    uint64_t dev;
    uint64_t inode;
    size_t module;
  };

  // Text is often mapped in several pieces: a changed protection divides it.
  bool is_known(const proc::Map& map) const {
    return std::any_of(known_.begin(), known_.end(), [&](const Known& k) {
      if (k.inode != map.inode || k.dev != map.dev) return false;
      const Module& module = result_.modules[k.module];
      return load_bias(module.file(), map) == module.bias();
    });
  }

  std::string exe_path() const {
    constexpr std::string_view kDeleted = " (deleted)";
    const std::string& path = process_.exe_path();
    return path.ends_with(kDeleted) ? path.substr(0, path.size() - kDeleted.size()) : path;
  }

  void unreadable(const std::string& path, const std::string& reason) {
    for (const UnreadableModule& known : result_.unreadable)
      if (known.path == path) return;
    result_.unreadable.push_back({path, reason});
  }

  const proc::Process& process_;
  const proc::Memory& memory_;
  ModuleFiles& files_;
  TargetRoot root_;
  struct stat exe_;
  std::vector<Known> known_;
  LoadedModules result_;
};

}  // namespace

Result<LoadedModules> load_modules(const proc::Process& process, const proc::Memory& memory,
                                   std::span<const proc::Map> maps, ModuleFiles& files) {
  Loader loader(process, memory, files);
  for (const proc::Map& map : maps)
    if (is_code_of_file(map)) loader.load(map);
  LoadedModules loaded = std::move(loader).take();
  std::stable_partition(loaded.modules.begin(), loaded.modules.end(),
                        [](const Module& m) { return m.is_executable(); });
  if (loaded.modules.empty() || !loaded.modules.front().is_executable()) {
    TRY_OK(proc::read_maps(process.pid()));  // it may have ended meanwhile
    return Error(ErrorKind::kNotFound,
                 fmt::format("the executable of process {} cannot be read{}", process.pid(),
                             loaded.unreadable.empty() ? "" : ": " + loaded.unreadable.front().text()));
  }
  return loaded;
}

Result<LoadedModules> load_modules(const proc::Process& process, const proc::Memory& memory,
                                   std::span<const proc::Map> maps) {
  ModuleFiles files;
  return load_modules(process, memory, maps, files);
}

}  // namespace blip::probe
