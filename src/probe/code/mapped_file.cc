// SPDX-License-Identifier: MIT
#include "probe/code/mapped_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "proc/files/links.h"

namespace blip::probe {

namespace {

constexpr size_t kSamples = 16;
constexpr size_t kSampleSize = 32;

// The verdict of memory on whether a file is the one that is loaded.
enum class Verdict { kSame, kDifferent, kUnknown };

Verdict compare_build_id(const elf::ElfFile& file, const FileRange& range, uint64_t bias,
                         const proc::Memory& memory) {
  std::vector<uint8_t> loaded(range.size());
  if (!memory.read(TargetAddr(range.begin.value + bias), loaded)) return Verdict::kUnknown;
  const auto wanted = file.bytes(range);
  const bool same = std::equal(loaded.begin(), loaded.end(), wanted.begin(), wanted.end());
  return same ? Verdict::kSame : Verdict::kDifferent;
}

// Breakpoints and probes of other tools change a few bytes; another build changes most of the samples.
Verdict compare_text(const elf::ElfFile& file, uint64_t bias, const proc::Memory& memory) {
  size_t same = 0, seen = 0;
  for (const FileRange& code : file.code_ranges()) {
    const uint64_t step = std::max<uint64_t>(code.size() / kSamples, kSampleSize);
    for (FileAddr at = code.begin; at + kSampleSize < code.end; at = at + step) {
      std::array<uint8_t, kSampleSize> loaded;
      if (!memory.read(TargetAddr(at.value + bias), loaded)) continue;
      const auto wanted = file.bytes({at, at + kSampleSize});
      ++seen;
      same += std::equal(loaded.begin(), loaded.end(), wanted.begin(), wanted.end());
    }
  }
  if (seen == 0) return Verdict::kUnknown;
  return same * 2 > seen ? Verdict::kSame : Verdict::kDifferent;
}

Verdict compare(const elf::ElfFile& file, uint64_t bias, const proc::Memory& memory) {
  if (const auto range = file.build_id_range()) return compare_build_id(file, *range, bias, memory);
  return compare_text(file, bias, memory);
}

struct Candidate {
  std::string path;
  bool is_the_inode;  // the kernel's link: whatever is behind it is what was mapped
  bool is_last_resort = false;
};

std::vector<Candidate> candidates(const proc::Process& process, const proc::Map& map, bool is_executable) {
  const pid_t pid = process.pid();
  std::vector<Candidate> list;
  list.push_back({proc::map_link(pid, map.range), true});
  if (is_executable) list.push_back({proc::executable_link(pid), true});
  list.push_back({proc::root_link(pid) + map.path, false});
  list.push_back({map.path, false, true});
  return list;
}

Error replaced(const proc::Process& process) {
  return Error(
      ErrorKind::kInvalid,
      fmt::format("the file was deleted or replaced since process {} loaded it; restart the process, "
                  "or run blip as root",
                  process.pid()));
}

// The file is the one that was mapped, and the memory is not what it holds.
Error differs() {
  return Error(
      ErrorKind::kUnsupported,
      "its memory differs from the file: the program has mapped a part of it once more (its functions "
      "are probed where the loader put them), or the file was written over");
}

class Opener {
 public:
  Opener(const proc::Process& process, const proc::Memory& memory, const proc::Map& map)
      : process_(process), memory_(memory), map_(map) {}

  // `open_file` makes a ModuleFile of what a descriptor leads to.
  template <typename OpenFile>
  Result<MappedFile> open(const Candidate& candidate, OpenFile open_file) const {
    Fd fd(::open(candidate.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat st;
    if (!fd || ::fstat(fd.get(), &st) != 0) return from_errno(errno);
    TRY(std::shared_ptr<ModuleFile> file, open_file(fd));
    const bool same_inode = candidate.is_the_inode || st.st_ino == map_.inode;
    const auto bias = load_bias(file->elf(), map_);
    if (!bias && same_inode) return Error(ErrorKind::kUnsupported, "mapped in a way no loader does");
    if (!bias) return replaced(process_);
    const Verdict verdict = compare(file->elf(), *bias, memory_);
    const bool same_build = verdict == Verdict::kSame && file->elf().build_id_range();
    const bool accepted = verdict != Verdict::kDifferent && (same_inode || same_build);
    if (!accepted) return same_inode ? differs() : replaced(process_);
    return MappedFile{std::move(file), *bias};
  }

 private:
  Error from_errno(int error) const {
    if (error == ENOENT) return replaced(process_);
    return Error::from_errno(error, "cannot be opened");
  }

  const proc::Process& process_;
  const proc::Memory& memory_;
  const proc::Map& map_;
};

}  // namespace

std::optional<uint64_t> load_bias(const elf::ElfFile& file, const proc::Map& map) {
  for (const elf::Segment& s : file.segments()) {
    if (!s.exec) continue;
    const uint64_t page_offset = s.offset.value & ~uint64_t{4095};
    const uint64_t page_addr = s.range.begin.value & ~uint64_t{4095};
    const uint64_t size = (s.offset.value + s.filesz) - page_offset;
    if (map.offset >= page_offset && map.offset < page_offset + size)
      return map.range.begin.value - (page_addr + (map.offset - page_offset));
  }
  return std::nullopt;
}

// Reported is what came of the path as the target sees it: the ways before it are closed to most users.
Result<MappedFile> open_mapped_file(const proc::Process& process, const proc::Memory& memory,
                                    const proc::Map& map, bool is_executable,
                                    const std::vector<elf::SearchRoot>& roots, ModuleFiles& files) {
  const Opener opener(process, memory, map);
  const auto open_file = [&](const Fd& fd) { return files.open(fd, map.path, is_executable, roots); };
  Error told = replaced(process);
  for (const Candidate& candidate : candidates(process, map, is_executable)) {
    auto file = opener.open(candidate, open_file);
    if (file) return file;
    if (!candidate.is_last_resort) told = file.error();
  }
  return told;
}

}  // namespace blip::probe
