// SPDX-License-Identifier: MIT
// Reads from the symbols of a file how its functions are called. Compilers keep the calling convention for
// every function that others may call. They name the copies for which they change it: f.isra.0.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/addr.h"

namespace blip::dwarf {

class EntrySymbols {
 public:
  enum class Kind : uint8_t {
    kNone,
    kLocal,        // only the file itself can call it
    kVisible,      // or other files, even if only those that it was linked with
    kSpecialized,  // a copy without some of the parameters
    kChanged,      // a copy with parameters of its own, and maybe another result
  };

  // Either may be null.
  EntrySymbols(Elf* program, Elf* debug);
  // If several symbols are there, the one that says most counts.
  Kind at(FileAddr entry) const;

 private:
  struct Entry {
    uint64_t address;
    Kind kind;
  };
  void read(Elf* elf);

  std::vector<Entry> entries_;  // sorted by address
};

// The kind that the name of a function's symbol shows: kNone, kSpecialized or kChanged.
EntrySymbols::Kind copy_kind(std::string_view symbol);

}  // namespace blip::dwarf
