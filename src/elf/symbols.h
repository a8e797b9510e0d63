// SPDX-License-Identifier: MIT
// The functions and data symbols of one file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "elf/elf_file.h"

namespace blip::elf {

struct Function {
  std::string_view name;  // as in the symbol table (mangled), without a version suffix
  FileAddr addr;
  uint64_t size = 0;
  bool is_ifunc = false;  // addr is the resolver, not what a call reaches
  bool is_weak = false;
  bool is_cold = false;       // the unlikely part a compiler split off: NAME.cold or NAME.cold.N
  bool is_nameless = false;   // known by unwind tables only: a function, or a cold part of one
  bool size_guessed = false;  // the symbol has size 0 (assembly): up to the next symbol or the section's end

  FileRange range() const { return {addr, addr + size}; }
};

// Views into the ElfFiles it was loaded from, which must outlive it.
class SymbolTable {
 public:
  // A file without symbols gives an empty table. kInvalid only when a symbol table is there and cannot be
  // read at all. `debug_files` (see debug_files.h) add what was stripped from it; a broken one adds nothing.
  static Result<SymbolTable> load(const ElfFile& file, std::span<const ElfFile> debug_files = {});

  // Defined STT_FUNC and STT_GNU_IFUNC symbols in executable segments, all symbol tables merged, sorted by
  // (addr, size), each (name, addr) once. Names of PLT entries are left out: they are on the way to a
  // function.
  std::span<const Function> functions() const { return functions_; }
  // Adds functions found by other means, whose names live forever.
  void add(std::span<const Function> more);
  // The function that contains the address; of nested ones, the one that begins last.
  const Function* function_at(FileAddr address) const;
  // The value of a defined data symbol; for a thread-local one its offset in the module's TLS block. A scan,
  // not a lookup.
  std::optional<uint64_t> object(std::string_view name) const;

 private:
  struct Table {
    std::span<const uint8_t> symbols;
    std::span<const uint8_t> names;
  };

  Status find_tables(const ElfFile& file);
  void collect(const ElfFile& file, const Table& table);
  void sort_and_merge();
  // The address at which a function without a size must end: the next symbol, section or segment.
  template <typename Visit>
  void for_each_boundary(const ElfFile& file, Visit visit) const;
  void guess_sizes(const ElfFile& file);
  void order_by_size();

  std::vector<Table> tables_;
  std::vector<Function> functions_;
  std::vector<FileAddr> reach_;  // reach_[i]: the highest end of functions_[0..i]
};

// "f@@GLIBC_2.2.5" -> "f".
std::string_view without_version(std::string_view name);

}  // namespace blip::elf
