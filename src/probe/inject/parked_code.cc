// SPDX-License-Identifier: MIT
// A signal handler that switches to another fiber (swapcontext in a SIGALRM handler) leaves the interrupted
// fiber's registers in the signal frame on its stack, or copies them elsewhere: in both cases as struct
// sigcontext, whose words 16 to 18 are rip, eflags, and cs with other segment registers. cs is always 0x33,
// so rip is found by what follows it, wherever the stack is.
#include "probe/inject/parked_code.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "base/page.h"
#include "proc/files/present_pages.h"
#include "proc/files/status.h"

namespace blip::probe {

namespace {

constexpr uint64_t kMostSearched = uint64_t{128} << 20;  // some tens of milliseconds
constexpr uint64_t kPiece = 1 << 20;
constexpr uint64_t kWord = sizeof(uint64_t);
constexpr uint64_t kUserCs = 0x33;
constexpr uint64_t kMostFlags = 1 << 22;  // of eflags, none above is defined

constexpr std::string_view kSwitches[] = {"swapcontext",    "setcontext", "jump_fcontext",
                                          "ontop_fcontext", "co_switch",  "coroutine_transfer"};
// For their users' sake, who hardly ever make use of it.
constexpr std::string_view kOfferers[] = {"libcrypto.so"};

// As a whole entry of a string table.
bool has_entry(std::span<const uint8_t> table, std::string_view name) {
  std::string_view text(reinterpret_cast<const char*>(table.data()), table.size());
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == '\0';
    const size_t end = at + name.size();
    if (begins && (end == text.size() || text[end] == '\0')) return true;
  }
  return false;
}

bool switches_stacks(const Module& module) {
  if (module.is_libc()) return false;
  for (std::string_view name : kOfferers)
    if (module.basename().starts_with(name)) return false;
  for (const char* section_name : {".dynstr", ".strtab"}) {
    const elf::Section* section = module.file().find_section(section_name);
    if (!section) continue;
    const auto table = module.file().section_bytes(*section);
    for (std::string_view name : kSwitches)
      if (has_entry(table, name)) return true;
  }
  return false;
}

// The main thread has "[stack]"; the others have their TLS at the end of their stack.
bool on_own_stack(const proc::Thread& thread, pid_t pid, std::span<const proc::Map> maps) {
  const proc::Map* map = proc::find_map(maps, TargetAddr(thread.registers.sp()));
  if (!map) return true;
  if (thread.tid == pid) return map->path == "[stack]";
  return map->range.contains(TargetAddr(thread.registers.thread_pointer()));
}

// Ordinary memory that code may be parked in: no devices, and nothing of blip's.
bool is_searched(const proc::Map& map) {
  if (!map.read || !map.write || map.path.starts_with("/memfd:blip-")) return false;
  if (!map.shared) return true;
  return map.path.starts_with("/memfd:") || map.path.starts_with("/dev/shm/") ||
         map.path.starts_with("/SYSV") || map.path.starts_with("/dev/zero");
}

class Search {
 public:
  Search(const proc::Memory& memory, std::span<const AddrRange> places) : memory_(memory), places_(places) {}

  void look_at(AddrRange run) {
    for (TargetAddr at = run.begin; at < run.end;) {
      const uint64_t size = std::min<uint64_t>(kPiece, run.end - at);
      // Registers may lie across the end of a piece.
      const uint64_t more = std::min<uint64_t>(2 * kWord, run.end - (at + size));
      buffer_.resize(size + more);
      if (memory_.read(at, buffer_)) {
        scan();
      } else {
        by_pages(at, size);
      }
      at = at + size;
    }
  }

  std::vector<InterruptedCode> take() { return std::move(found_); }

 private:
  // A page may have gone, or cannot be read.
  void by_pages(TargetAddr at, uint64_t size) {
    for (uint64_t done = 0; done < size; done += kPageSize) {
      buffer_.resize(kPageSize);
      if (memory_.read(at + done, buffer_)) scan();
    }
  }

  void scan() {
    const uint64_t low = places_.front().begin.value;
    const uint64_t high = places_.back().end.value;
    const size_t count = buffer_.size() / kWord;
    const auto word = [&](size_t i) {
      uint64_t value;
      std::memcpy(&value, buffer_.data() + i * kWord, kWord);
      return value;
    };
    for (size_t i = 0; i + 2 < count; ++i) {
      const uint64_t pc = word(i);
      if (pc < low || pc >= high || (word(i + 2) & 0xffff) != kUserCs || word(i + 1) >= kMostFlags) continue;
      if (in_places(TargetAddr(pc))) found_.push_back({TargetAddr(pc), TargetAddr(i > 0 ? word(i - 1) : 0)});
    }
  }

  bool in_places(TargetAddr pc) const {
    auto it = std::upper_bound(places_.begin(), places_.end(), pc,
                               [](TargetAddr a, const AddrRange& r) { return a < r.begin; });
    return it != places_.begin() && (it - 1)->contains(pc);
  }

  const proc::Memory& memory_;
  std::span<const AddrRange> places_;
  std::vector<uint8_t> buffer_;
  std::vector<InterruptedCode> found_;
};

bool catches_timers(pid_t pid) {
  const auto status = proc::read_status(pid, pid);
  if (!status) return true;
  constexpr std::array<int, 4> kTimers{SIGALRM, SIGVTALRM, SIGPROF, SIGURG};
  constexpr int kFirstRealTime = 34;  // two below are libc's own
  uint64_t mask = ~uint64_t{0} << (kFirstRealTime - 1);
  for (int signal : kTimers) mask |= uint64_t{1} << (signal - 1);
  return (status->caught & mask) != 0;
}

}  // namespace

Parking parking_of(std::span<const Module> modules) {
  bool likely = false;
  for (const Module& module : modules) {
    if (module.file().is_go()) return Parking::kNever;
    likely = likely || switches_stacks(module);
  }
  return likely ? Parking::kLikely : Parking::kUnknown;
}

// A thread in a handler on its alternate stack is no fiber.
bool may_park_code(Parking parking, proc::Attachment& attachment, const proc::Memory& memory,
                   std::span<const proc::Map> maps) {
  if (parking != Parking::kUnknown) return parking == Parking::kLikely;
  const std::span<const proc::Thread> threads = attachment.threads();
  SignalFrames frames(threads, memory, maps);
  for (size_t i = 0; i < threads.size(); ++i) {
    if (on_own_stack(threads[i], attachment.pid(), maps)) continue;
    const auto codes = frames.interrupted(i);
    if (!codes || codes->empty()) return true;
  }
  return false;
}

Result<ParkedCode> find_parked_code(const proc::Memory& memory, std::span<const proc::Map> maps,
                                    std::span<const AddrRange> places,
                                    const std::function<bool()>& time_is_up) {
  ParkedCode parked;
  if (places.empty()) return parked;
  std::vector<AddrRange> mappings;
  for (const proc::Map& map : maps)
    if (is_searched(map)) mappings.push_back(map.range);
  TRY(const proc::PresentPages pages, proc::present_pages(memory.pid(), mappings, kMostSearched));
  if (!pages.complete) {
    parked.unknown = catches_timers(memory.pid());
    return parked;
  }
  Search search(memory, places);
  for (const AddrRange& run : pages.runs) {
    for (TargetAddr at = run.begin; at < run.end && !parked.unknown; at = at + kPiece) {
      search.look_at({at, std::min(run.end, at + kPiece + 2 * kWord)});
      if (time_is_up && time_is_up()) parked.unknown = catches_timers(memory.pid());
    }
  }
  parked.found = search.take();
  return parked;
}

}  // namespace blip::probe
