// SPDX-License-Identifier: MIT
// What `blip list --marks` shows: static marks, and what a probe on each would come to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/list/listing.h"

namespace blip::session {

struct ListedArgument {
  std::string name, type;  // "arg1", "unsigned long"
  std::string place;       // "rdi", "stack [rsp+0x10]", "unknown operand"
  std::string operand;     // as the assembler wrote it
};

struct ListedMark {
  std::string provider, name;
  uint64_t address = 0;  // run-time address in a process, the file's own address in a file
  std::optional<uint64_t> semaphore;
  std::optional<uint16_t> listeners;  // what the semaphore of a process counts
  size_t module = 0;                  // index into MarkListing::modules
  std::vector<ListedArgument> arguments;
  PatchStep step = PatchStep::kRefused;
  std::string refusal;  // of kRefused: why
};

struct MarkListing {
  std::vector<probe::Module> modules;
  std::vector<ListedMark> marks;   // by module, then by address
  std::vector<std::string> notes;  // what could not be looked at, for -v
};

// Every place of the marks that the request's SPEC means (elf::parse_mark_spec()), or of all. An error if
// there is none.
Result<MarkListing> list_marks(const ListRequest& request);

}  // namespace blip::session
