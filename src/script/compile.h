// SPDX-License-Identifier: MIT
// From what the user asks for at a site to one program with all of it.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "ctf/schema.h"
#include "script/checker.h"
#include "script/parser.h"
#include "script/types/limits.h"
#include "script/values/presenter.h"

namespace blip::script {

struct Captured {
  HitProgram program;
  std::vector<ctf::Field> fields;
  // For returns: code that runs at the entry and whose results are kept. kEntryValue n is the node
  // entry_nodes[n].
  Code entry;
  std::vector<uint32_t> entry_nodes;
};

// All of one site. Filters all have to hold; fields come in the order they are asked for.
class Compiler {
 public:
  // The types and codes that the scopes of `site` hand out must live as long as the compiler.
  Compiler(const HitScopes& site, const Limits& limits);
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;

  Status add_filter(std::string_view text);
  Status add_capture(std::string_view list);
  // At a return, the variables are shown as they were at the entry.
  void add_variables(std::span<const Variable> variables, ctf::FieldGroup group = ctf::FieldGroup::kArgument);

  Result<Captured> finish();

 private:
  Checker checker(std::string_view source) { return {source, builder_, types_, site_, &entries_}; }
  IsType is_type();

  HitScopes site_;
  Limits limits_;
  Builder builder_;
  TypeArena types_;
  EntryValues entries_;
  Access access_{builder_, types_};
  uint32_t condition_ = kNone;
  std::vector<Output> outputs_;
  std::vector<Named> fields_;
  Presenter presenter_;
};

}  // namespace blip::script
