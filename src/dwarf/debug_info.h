// SPDX-License-Identifier: MIT
// Reads debugging information about the code of one file: variables, types, inlined functions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "script/types/scope.h"

namespace blip {
class FileCache;
}

namespace blip::dwarf {

// Says where indexes of names are kept: docs/design/debug_index.md.
struct IndexCache {
  const FileCache* files = nullptr;         // null: nowhere; must outlive what is made with it
  uint64_t least_size = uint64_t{2} << 20;  // of .debug_info; what is smaller is searched as fast
};

// Whole ELF files; they must outlive what is made from them.
struct DebugImages {
  std::string name;                    // of the module, as users write it: "libfoo.so.1"
  std::span<const uint8_t> program;    // what is mapped: its frames count
  std::span<const uint8_t> debug;      // its separate debug file; empty: the program has all
  std::span<const uint8_t> alternate;  // what dwz has put apart (.gnu_debugaltlink); empty: not found
  // May the file of this path, named by the debugging information, be opened (.dwo)? It must be a regular
  // one. Without this none is.
  std::function<bool(const std::string& path)> may_open;
  IndexCache cache = {};
};

// The place where a module's code finds a variable that other modules may define too.
struct BoundVariable {
  FileAddr place;  // of the variable, or of a word that holds its address
  bool is_address = false;
};

class DebugInfo;

// A module whose code may call a function of another one, by a word that the loader fills in.
struct CallingModule {
  DebugInfo* info = nullptr;  // must outlive what is made with it
  uint64_t load_bias = 0;
  FileAddr slot;
};

// A place that a probe stands at.
struct CodeLocation {
  FileAddr pc;
  bool is_entry = false;  // the function's first instruction: arguments are where its caller has put them
  bool begins_inlined = false;  // the first instruction of the inlined function that is meant
  uint64_t load_bias = 0;
  // The distance from the beginning of the module's block of thread-local variables up to the thread pointer;
  // nullopt if unknown.
  std::optional<uint64_t> tls_offset;
  // By the name of the symbol; none: the variable is where the module itself has it. May be empty.
  std::function<std::optional<BoundVariable>(const std::string& symbol)> bound = {};
  // Returns the modules that may call the function at this address through words that the loader fills in.
  // May be empty.
  std::function<std::vector<CallingModule>(FileAddr function)> callers = {};
};

// Selects inlined functions by name.
struct InlinedName {
  std::string identifier;  // the last part of the name without template arguments, or all of a mangled one;
                           // empty: every function
  std::function<bool(std::string_view)> fits;  // asked with mangled and with whole names
};

struct InlinedInstance {
  FileAddr pc;           // its first instruction
  uint64_t size = 0;     // of all its code
  std::string function;  // the one that was inlined
  std::string caller;    // whose code it became
  uint64_t key = 0;      // for scope_of
};

class DebugData;

// Read when asked for, unit by unit. Used by one thread. Scopes and types live as long as this.
class DebugInfo {
 public:
  // kNotFound: there is none, or none that can be read.
  static Result<DebugInfo> open(const DebugImages& images);

  DebugInfo(DebugInfo&&) noexcept;
  DebugInfo& operator=(DebugInfo&&) noexcept;
  ~DebugInfo();

  // Never null: where nothing is known of the code, globals and types are still found. Code of an inlined
  // function has that one's variables, except at the entry of the function around it.
  std::unique_ptr<script::Scope> scope_at(const CodeLocation& site);

  // Every copy of the inlined functions of that name, sorted; of several that begin at one instruction the
  // outermost.
  std::vector<InlinedInstance> inlined_instances(const InlinedName& name);
  std::unique_ptr<script::Scope> scope_of(const InlinedInstance& instance, const CodeLocation& site);

  // For CodeLocation, if this is the executable of the process and not a library.
  std::optional<uint64_t> executable_tls_offset() const;

  // For this folder.
  DebugData& debug_data() { return *debug_data_; }

  // Says how names are found; empty if there is nothing to say.
  const std::string& index_note() const;

 private:
  explicit DebugInfo(std::unique_ptr<DebugData> debug_data);

  std::unique_ptr<DebugData> debug_data_;
};

}  // namespace blip::dwarf
