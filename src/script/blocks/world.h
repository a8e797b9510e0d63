// SPDX-License-Identifier: MIT
// Facts that handlers and printers ask for while they run, and that only the session knows: names of addresses, stacks, threads
// and probes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace blip::script {

struct CodeName {
  std::string function;  // empty: not known
  uint64_t offset = 0;   // from its beginning
  std::string module;    // the file that is mapped there; empty: none
  std::string file;      // of the source, if it is known
  uint32_t line = 0;
};

// The probe that fired, by the number that BlockOp::kProbe gives.
struct FiredProbe {
  size_t wanted = 0;  // index into Script::probes()
  CodeName place;     // of probes with a hit
};

struct UserIds {
  uint64_t uid = 0, gid = 0;
};

class World {
 public:
  virtual ~World() = default;
  // The functions that are inlined there come first, the one that holds them last. Empty: nothing is known.
  virtual std::vector<CodeName> names_of(uint64_t pid, uint64_t address) = 0;
  // By the number that BlockOp::kStack gives; return addresses, innermost first.
  virtual std::vector<uint64_t> stack(uint64_t number) = 0;
  virtual uint64_t process_of_stack(uint64_t /*number*/) { return 0; }
  virtual std::string thread_name(uint64_t pid, uint64_t tid) = 0;
  // Of processes that are there now, or were when blip last looked; empty or 0: not known.
  virtual std::vector<std::string> command_line(uint64_t /*pid*/) { return {}; }
  virtual std::string environment(uint64_t /*pid*/, const std::string& /*name*/) { return {}; }
  virtual uint64_t parent(uint64_t /*pid*/) { return 0; }
  virtual UserIds user_ids(uint64_t /*pid*/) { return {}; }
  virtual FiredProbe probe(uint64_t number) = 0;
  // Nanoseconds since 1970 at a time of the records' clock (BlockOp::kClock).
  virtual uint64_t realtime_ns(uint64_t clock) = 0;
  // The process of -p, or the command of -c; 0: several, or none.
  virtual uint64_t target_pid() = 0;
};

}  // namespace blip::script
