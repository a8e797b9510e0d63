// SPDX-License-Identifier: MIT
// Recovers values that held at the entry of a function (DW_OP_entry_value) when they are asked for later. The
// function's callers know them: docs/design/entry_values.md.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "dwarf/call_sites.h"
#include "dwarf/code_location.h"
#include "dwarf/expression.h"
#include "dwarf/frames.h"

namespace blip::dwarf {

class DebugData;

// The frame of a function that is at `pc`, or that has a call before it under way. All values are said by
// what the probe finds in registers and memory, however far out the frame is.
class CallFrame final : public EntryValues {
 public:
  // By DWARF's numbers; none: lost.
  using Registers = std::array<std::optional<script::Code>, 16>;

  struct Code {
    DebugData* debug_data = nullptr;
    uint64_t load_bias = 0;
    Dwarf_Die function{};
    FileAddr pc;  // whose rules hold: of callers within the call
    std::function<std::vector<CallingModule>(FileAddr function)> callers = {};  // from elsewhere
  };
  // The frame that the probe is in.
  explicit CallFrame(const Code& code);

  // Said by who has called, as the return address tells. A fault at run time: by none of those who are known.
  // None: nobody is known who tells it.
  std::optional<script::Code> at_entry(const EntryOperand& what) override;
  // The value that a register holds in this frame.
  std::optional<script::Code> general(unsigned dwarf_register) override;

 private:
  struct Caller {
    FileAddr behind;  // where the call returns to
    CallSite site;
    DebugData* debug_data = nullptr;
    uint64_t load_bias = 0;
    std::optional<uint64_t> slot{};  // the word that the call goes through
  };

  CallFrame(const Code& code, Registers registers, int depth, std::shared_ptr<int> questions)
      : code_(code), registers_(std::move(registers)), depth_(depth), questions_(std::move(questions)) {}
  std::optional<script::Code> search(const EntryOperand& what);
  std::vector<Caller> callers(FileAddr entry);
  void add_callers(const std::vector<FileAddr>& calls, const Caller& like, std::vector<Caller>& all);
  std::optional<script::Code> passed_by(const Caller& caller, const EntryOperand& what);
  // Sets up return_address_ and unwound_; false: the frame is not known.
  bool unwind();
  std::optional<script::Code> value(const Operations& operations, Dwarf_Attribute* attribute);

  Code code_;
  Registers registers_;
  int depth_ = 0;
  std::shared_ptr<int> questions_;  // so many more may be asked, all frames together
  std::optional<bool> is_unwound_;
  Operations cfa_;
  script::Code return_address_;
  Registers unwound_;  // the caller's
  std::map<std::pair<unsigned, const void*>, std::optional<script::Code>> known_;
};

}  // namespace blip::dwarf
